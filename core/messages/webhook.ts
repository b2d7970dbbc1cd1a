// A message as a signed webhook (Standard Webhooks): our own types. The API's description has the schemas
// (api/openapi/alert-webhooks.ts); texts are as they are, because programs read them.
import { type AlertIssue, type AlertMessage, eventType, type IssueChange, titleOf } from './message.ts';

export function webhookBody(message: AlertMessage): object {
  const { content, at, organization, channel } = message;
  const common = { title: titleOf(message), organization, alertChannel: channel };
  const event = (type: string, data: object) => ({ type, timestamp: at.toISOString(), data: { ...common, ...data } });
  switch (content.kind) {
    case 'change':
      return event(eventType(content.told), shownChange(message, content.told));
    case 'digest':
      return event('digest', { changes: content.changes.map((told) => typedChange(message, told)) });
    case 'failing': {
      const { id, name, type, since, error } = content.channel;
      return event('channel.failing', {
        failingChannel: { id, name, type, failingSince: since.toISOString(), lastError: error },
        changes: content.changes.map((told) => typedChange(message, told)),
      });
    }
    case 'recovered':
      return event('channel.recovered', { recoveredChannel: content.channel });
    case 'test':
      return event('test', {});
  }
}

const typedChange = (message: AlertMessage, told: IssueChange) => ({
  type: eventType(told),
  ...shownChange(message, told),
});

function shownChange({ apiBase }: AlertMessage, { change, issue }: IssueChange) {
  return { change, issue: { ...shownIssue(issue), url: apiBase === '' ? null : `${apiBase}/api/issues/${issue.id}` } };
}

function shownIssue(issue: AlertIssue) {
  const { firstSeenAt, lastSeenAt, openedAt, resolvedAt } = issue;
  return {
    ...issue,
    firstSeenAt: firstSeenAt.toISOString(),
    lastSeenAt: lastSeenAt.toISOString(),
    openedAt: openedAt.toISOString(),
    resolvedAt: resolvedAt?.toISOString() ?? null,
  };
}
