// The "Current Details" of a delivery in the Temporal UI: its state, what happens next, and what an operator can do.
// Times are ISO 8601 in UTC.

import type { AttemptOutcome, UnrecordedAttempt } from '../activities/types.ts';
import { circuitWorkflowId, queryOf, withPrefix } from '../core/temporal/names.ts';
import {
  countOf,
  listReference,
  paragraphs,
  plain,
  signalChoices,
  summaryLine,
  workflowReference,
} from '../core/temporal/operator-markdown.ts';
import type { DeliveryStatusView } from './messages.ts';

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

const CANCEL = '`cancel` ends the delivery: no further attempt is made.';

export function attempting({ view }: Facts, attempt: number): string {
  return `Attempt ${attempt} of ${view.maxAttempts} is being made.`;
}

export function recording({ view }: Facts, { attempt, statusCode, error }: UnrecordedAttempt): string {
  const answer = statusCode === null ? plain(error ?? '') : `The destination answered ${statusCode}`;
  return paragraphs(
    `Attempt ${attempt} of ${view.maxAttempts} was made and could not be recorded. ${answer}.`,
    'It is recorded when the database of Hookyard takes writes again, and not sent again before. `cancel` is heard after that.',
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
    signalChoices('`retryNow` makes the next attempt now.', CANCEL),
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

const NO_SIGNAL = 'No signal passes the limit.';
const enoughAt = (where: string) => (at: string | null) =>
  `Enough attempts ${where} are under way. It is tried again at ${at}.`;

const WAITS = {
  transforms: {
    summary: 'Transforms of the organization',
    text: (at) =>
      `The transforms of its organization have to wait: they have used up \`transformMsPerMinute\`, or too many of them wait already. The attempt is made at ${at}, if there is room then.`,
    hint: `${NO_SIGNAL} A higher limit of the organization counts within seconds.`,
  },
  resumption: {
    summary: 'The organization is suspended',
    text: () =>
      'The organization is **suspended**, so nothing is sent. The next attempt is made by itself after an operator has resumed the organization. Waiting uses up no attempt.',
    hint: 'To resume it: `hookyard orgs resume`.',
    hasLinks: true,
  },
  circuit: {
    summary: 'The circuit of the route may open',
    text: (at) =>
      `Enough attempts of the route have failed to open its circuit, and PostgreSQL has not recorded them yet. It is looked at again at ${at}.`,
    hint: 'It resolves itself when PostgreSQL takes results again.',
  },
  slots: { summary: 'Attempts of the organization', text: enoughAt('of this organization'), hint: NO_SIGNAL },
  destination: { summary: 'Attempts at the destination', text: enoughAt('at the destination'), hint: NO_SIGNAL },
  slot: {
    summary: 'Rate limit of the destination',
    text: (at) => `The rate limit of the destination lets the next attempt go at ${at}.`,
    hint: `${NO_SIGNAL} A higher \`rateLimitPerMinute\` of the destination counts for later attempts.`,
  },
  turn: {
    summary: 'Rate limit of the destination',
    text: () =>
      'There is no slot for the next attempt yet: the rate limit of the destination gives it to older and more urgent deliveries first, or enough attempts are under way at the destination, or of this organization. It is made by itself when its turn comes.',
    hint: 'No signal passes a limit. A higher `rateLimitPerMinute` or `maxConcurrency` of the destination counts at once.',
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
    `**Held**: its ${what} is paused, so nothing is sent. It continues by itself when an operator resumes the ${what}. Waiting uses up no attempt.`,
    signalChoices(CANCEL),
    `To resume it: \`POST /api/${what}s/{id}/resume\`.`,
    seeAlso(facts),
  );
}

export function held(facts: Facts): string {
  const { routeId } = facts.belongs;
  const circuit = routeId === undefined ? 'circuit' : own(facts, circuitWorkflowId(routeId), 'circuit');
  return paragraphs(
    `**Held**: the ${circuit} of its route is open, so nothing is sent to the route's destinations. It continues by itself when the circuit lets it.`,
    signalChoices(CANCEL),
    `To close the circuit now, send \`resetCircuit\` to the workflow of the ${circuit}.`,
    seeAlso(facts),
  );
}

export function ended(facts: Facts, ending: 'delivered' | 'cancelled' | 'closed'): string {
  const { deliveryId, attempts, maxAttempts } = facts.view;
  if (ending === 'delivered') return `**Delivered** by attempt ${attempts} of ${maxAttempts}.`;
  if (ending === 'cancelled') {
    return paragraphs(
      `**Cancelled** after ${countOf(attempts, 'attempt')} of ${maxAttempts}. No further attempt is made.`,
      `To deliver the event after all: \`POST /api/deliveries/${deliveryId}/replay\`.`,
      seeAlso(facts),
    );
  }
  return paragraphs(
    `**Closed** without a further attempt: the delivery was ended in Hookyard (cancelled, its destination disabled or deleted) or deleted with its event. \`GET /api/deliveries/${deliveryId}\` says which.`,
    seeAlso(facts),
  );
}

export function failedOver(facts: Facts, takenOverBy: string | null): string {
  const { attempts, lastError } = facts.view;
  const after = attempts === 0 ? 'without an attempt' : `after ${countOf(attempts, 'attempt')}`;
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
  return summaryLine(`Open for a replay. ${failure(view, view.lastError)}`);
}

/** @param openUntil when the replay window ends, ISO 8601 */
export function failed(facts: Facts, openUntil: string): string {
  const { view } = facts;
  return paragraphs(
    `${shownFailure(view)} No further attempt is made by itself. Open for a replay from here until ${openUntil}, by the API as long as the payload is kept.`,
    signalChoices(
      '`replay` delivers the event again, as a new delivery.',
      '`cancel` closes this one: it stays failed.',
    ),
    seeAlso(facts, ofDestination(facts, 'failed')),
  );
}

/** Failed, when nothing waits here for a replay: the window is 0, too many wait already, or it could not be found. */
export function failedAndClosed(facts: Facts): string {
  return paragraphs(
    `${shownFailure(facts.view)} No further attempt is made by itself, and this page does not wait for a replay: so many others do that there is no room, the replay window is 0, or the namespace has no search attributes.`,
    `To deliver the event again: \`POST /api/deliveries/${facts.view.deliveryId}/replay\`, as long as the payload is kept.`,
    seeAlso(facts, ofDestination(facts, 'failed')),
  );
}

/** @param replayedAs undefined: it was not possible any more */
export function replayed(facts: Facts, replayedAs: string | undefined): string {
  const { view } = facts;
  const what = replayedAs
    ? `Replayed as ${own(facts, replayedAs)}`
    : 'It was not replayed: a later delivery has replaced it, or its payload, destination or event is gone';
  return paragraphs(`${shownFailure(view)} ${what}.`, seeAlso(facts));
}

export function failureReason({ view }: Facts): string {
  return failure(view, view.lastError);
}

function shownFailure(view: DeliveryStatusView): string {
  return `${failure(view, plain(view.lastError ?? ''), '**Failed**')}.`;
}

function failure({ attempts, maxAttempts }: DeliveryStatusView, error: string | null, failed = 'Failed'): string {
  return `${failed} after ${attempts} of ${maxAttempts} attempts: ${error}`;
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
  return listReference(`${status} deliveries of this destination`, queryOf(prefix, query));
}
