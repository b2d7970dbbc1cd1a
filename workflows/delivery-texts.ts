// The "Current Details" of a delivery in the Temporal UI: its state, what happens next, and what an operator can do.
// Times are ISO 8601 in UTC.

import type { AttemptOutcome, UnrecordedAttempt } from '../activities/types.ts';
import { circuitWorkflowId, queryOf, withPrefix } from '../core/temporal/names.ts';
import {
  listReference,
  paragraphs,
  plain,
  signalChoices,
  summaryLine,
  workflowReference,
} from '../core/temporal/operator-markdown.ts';
import { plural } from '../core/text/words.ts';
import type { DeliveryStatusView } from './signals-and-queries.ts';

/** Where a delivery belongs; a route or destination is unknown to a workflow that was started without it. */
export interface Belongings {
  prefix: string;
  eventId: string;
  routeId?: string;
  destinationId?: string;
}

export interface Facts {
  view: DeliveryStatusView;
  belongs: Belongings;
}

const CANCEL = '`cancel` cancels the delivery: no further attempts are made.';

export function attempting({ view }: Facts, attempt: number): string {
  return `Attempt ${attempt} of ${view.maxAttempts} is in progress.`;
}

export function recording({ view }: Facts, { attempt, statusCode, error }: UnrecordedAttempt): string {
  const answer = statusCode === null ? plain(error ?? '') : `The destination returned ${statusCode}`;
  return paragraphs(
    `Attempt ${attempt} of ${view.maxAttempts} was made, but could not be recorded. ${answer}.`,
    'The attempt will be recorded when the database accepts writes again; no further attempt will be made until then. `cancel` takes effect afterwards.',
  );
}

/** The wait after a failed attempt, on the timeline. */
export function retrySummary({ view }: Facts): string {
  return summaryLine(failedAttempt(view, view.lastError));
}

export function retrying(facts: Facts): string {
  const { view } = facts;
  return paragraphs(
    `**Retrying**. ${failedAttempt(view, plain(view.lastError ?? ''))}. Next attempt at ${view.nextAttemptAt}.`,
    signalChoices('`retryNow` starts the next attempt now.', CANCEL),
    seeAlso(facts, ofDestination(facts, 'retrying')),
  );
}

type Waiting = Pick<Extract<AttemptOutcome, { status: 'deferred' }>, 'queued' | 'for'>;

/** What a delivery waits for before an attempt that is not made yet. */
interface Wait {
  summary: string;
  /** @param at when the attempt is made or tried again, ISO 8601 */
  text: (at: string | null) => string;
  hint: string;
  hasLinks?: boolean;
}

const NO_SIGNAL = 'A signal does not bypass the limit.';
const enoughAt = (where: string) => (at: string | null) =>
  `The maximum number of attempts ${where} is in progress. Hookyard will check again at ${at}.`;

const WAITS = {
  transforms: {
    summary: "Organization's transform limit",
    text: (at) =>
      `The transform is waiting: the organization has reached its \`transformMsPerMinute\` limit, or too many of its transforms are already waiting. The attempt will start at ${at} if there is capacity.`,
    hint: `${NO_SIGNAL} A higher \`transformMsPerMinute\` takes effect within seconds.`,
  },
  resumption: {
    summary: 'The organization is suspended',
    text: () =>
      'The organization is **suspended**, so nothing is sent. The next attempt starts automatically after an operator resumes the organization. Waiting does not use up attempts.',
    hint: 'To resume the organization: `hookyard orgs resume`.',
    hasLinks: true,
  },
  circuit: {
    summary: "The route's circuit breaker may open",
    text: (at) =>
      `The route has had enough failed attempts to open its circuit breaker, but the database has not recorded them yet. Hookyard will check again at ${at}.`,
    hint: 'This resolves automatically when the database accepts writes again.',
  },
  slots: { summary: "Organization's concurrency limit", text: enoughAt('for this organization'), hint: NO_SIGNAL },
  destination: { summary: "Destination's concurrency limit", text: enoughAt('to the destination'), hint: NO_SIGNAL },
  slot: {
    summary: "Destination's rate limit",
    text: (at) => `The destination's rate limit allows the next attempt at ${at}.`,
    hint: `${NO_SIGNAL} A higher \`rateLimitPerMinute\` on the destination applies to later attempts.`,
  },
  turn: {
    summary: "Destination's rate limit",
    text: () =>
      "The next attempt is waiting. Older or more urgent deliveries go first under the destination's rate limit, or the destination or this organization has reached its maximum number of attempts in progress. The attempt starts automatically when its turn comes.",
    hint: 'A signal does not bypass a limit. A higher `rateLimitPerMinute` or `maxConcurrency` on the destination takes effect immediately.',
    hasLinks: true,
  },
} satisfies Record<string, Wait>;

export const waitingSummary = ({ for: what }: Waiting): string => WAITS[what ?? 'slot'].summary;

export function waiting(facts: Facts, { queued, for: what }: Waiting): string {
  const isInTurn = queued && (what === undefined || what === 'destination');
  const wait: Wait = WAITS[isInTurn ? 'turn' : (what ?? 'slot')];
  const links = wait.hasLinks ? [seeAlso(facts)] : [];
  return paragraphs(wait.text(facts.view.nextAttemptAt), signalChoices(CANCEL), wait.hint, ...links);
}

export function paused(facts: Facts, what: 'route' | 'destination'): string {
  return paragraphs(
    `**Held**: the ${what} is paused, so nothing is sent. The delivery continues automatically when the ${what} is resumed. Waiting does not use up attempts.`,
    signalChoices(CANCEL),
    `To resume the ${what}: \`POST /api/${what}s/{id}/resume\`.`,
    seeAlso(facts),
  );
}

export function held(facts: Facts): string {
  const { routeId } = facts.belongs;
  const circuit = routeId === undefined ? 'circuit breaker' : own(facts, circuitWorkflowId(routeId), 'circuit breaker');
  return paragraphs(
    `**Held**: the route's ${circuit} is open, so nothing is sent to the route's destinations. The delivery continues automatically when the circuit breaker closes.`,
    signalChoices(CANCEL),
    `To close the circuit breaker now, send \`resetCircuit\` to the ${circuit} workflow.`,
    seeAlso(facts),
  );
}

export function ended(facts: Facts, ending: 'delivered' | 'cancelled' | 'closed'): string {
  const { deliveryId, attempts, maxAttempts } = facts.view;
  if (ending === 'delivered') return `**Delivered** on attempt ${attempts} of ${maxAttempts}.`;
  if (ending === 'cancelled') {
    return paragraphs(
      `**Cancelled** after ${attempts} of ${plural(maxAttempts, 'attempt')}. No further attempts will be made.`,
      `To deliver the event: \`POST /api/deliveries/${deliveryId}/replay\`.`,
      seeAlso(facts),
    );
  }
  return paragraphs(
    `**Closed** without another attempt: the delivery was cancelled, its destination was disabled or deleted, or its event was deleted. \`GET /api/deliveries/${deliveryId}\` shows the reason.`,
    seeAlso(facts),
  );
}

export function failedOver(facts: Facts, takenOverBy: string | null): string {
  const { attempts, lastError } = facts.view;
  const after = attempts === 0 ? 'without an attempt' : `after ${plural(attempts, 'attempt')}`;
  const successor =
    takenOverBy === null
      ? 'Another delivery of this event goes to the failover destination.'
      : `${own(facts, takenOverBy)} delivers the event to the failover destination.`;
  return paragraphs(
    `**Failed over** ${after}${lastError === null ? '' : `: ${plain(lastError)}`}. ${successor}`,
    seeAlso(facts, ofDestination(facts, 'failed')),
  );
}

/** The wait for a replay, on the timeline. */
export function failedSummary({ view }: Facts): string {
  return summaryLine(`Can be replayed here. ${failure(view, view.lastError)}`);
}

/** @param openUntil when the replay window ends, ISO 8601 */
export function failed(facts: Facts, openUntil: string): string {
  const { view } = facts;
  return paragraphs(
    `${shownFailure(view)} There will be no more automatic attempts. The delivery can be replayed here until ${openUntil}, and through the API as long as the payload is kept.`,
    signalChoices(
      '`replay` replays the delivery as a new delivery.',
      '`cancel` closes this workflow; the delivery stays failed.',
    ),
    seeAlso(facts, ofDestination(facts, 'failed')),
  );
}

/** Failed, when nothing waits here for a replay: the window is 0, too many wait already, or it could not be found. */
export function failedAndClosed(facts: Facts): string {
  return paragraphs(
    `${shownFailure(facts.view)} There will be no more automatic attempts, and the delivery cannot be replayed here: too many failed deliveries are already waiting for a replay, the replay window is 0, or the namespace lacks Hookyard's search attributes.`,
    `The delivery can be replayed through the API as long as the payload is kept: \`POST /api/deliveries/${facts.view.deliveryId}/replay\`.`,
    seeAlso(facts, ofDestination(facts, 'failed')),
  );
}

/** @param replayedAs undefined: it was not possible any more */
export function replayed(facts: Facts, replayedAs: string | undefined): string {
  const { view } = facts;
  const what = replayedAs
    ? `Replayed as ${own(facts, replayedAs)}`
    : 'The delivery was not replayed: a later delivery has replaced it, or its payload, destination or event no longer exists';
  return paragraphs(`${shownFailure(view)} ${what}.`, seeAlso(facts));
}

export function failureReason({ view }: Facts): string {
  return failure(view, view.lastError);
}

function shownFailure(view: DeliveryStatusView): string {
  return `${failure(view, plain(view.lastError ?? ''), '**Failed**')}.`;
}

function failure({ attempts, maxAttempts }: DeliveryStatusView, error: string | null, failed = 'Failed'): string {
  return `${failed} after ${attempts} of ${plural(maxAttempts, 'attempt')}: ${error}`;
}

function failedAttempt({ attempts, maxAttempts }: DeliveryStatusView, error: string | null): string {
  return `Attempt ${attempts} of ${maxAttempts} failed: ${error}`;
}

function own({ belongs }: Facts, name: string, text = name): string {
  return workflowReference(withPrefix(belongs.prefix, name), text);
}

function seeAlso({ belongs }: Facts, ...others: (string | null)[]): string {
  const ofEvent = queryOf(belongs.prefix, `EventId = "${belongs.eventId}"`);
  const event = listReference('all deliveries of this event', ofEvent);
  return `See also: ${[event, ...others.filter((other) => other !== null)].join(', ')}.`;
}

/** Others of the same destination that are in the same state. */
function ofDestination({ belongs: { prefix, destinationId } }: Facts, status: 'failed' | 'retrying'): string | null {
  if (destinationId === undefined) return null;
  // One that has failed may wait for a replay here, or may have ended.
  const execution = status === 'failed' ? 'in ("Running", "Failed")' : '= "Running"';
  const query = `DestinationId = "${destinationId}" and DeliveryStatus = "${status}" and ExecutionStatus ${execution}`;
  return listReference(`${status} deliveries to this destination`, queryOf(prefix, query));
}
