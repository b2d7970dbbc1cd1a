// Which webhooks a session of hookyard listen gets: the conditions of its route. The service applies them, like those
// of any route.
import { parseExact } from '../../core/text/exact-json.ts';
import { providerNamed } from '../../providers/index.ts';
import type { FilterConditionInput, Source } from '../../client/index.ts';
import { usage } from '../errors.ts';

export interface Wanted {
  filter?: string[];
  eventType?: string[];
  path?: string;
}

/** @throws CliError when one cannot be a condition of this source */
export function conditionsOf({ filter = [], eventType, path }: Wanted, source: Source): FilterConditionInput[] {
  if (path !== undefined && !source.allowPaths) {
    const advice = `enable them with: hookyard sources update ${source.slug} --allow-paths`;
    throw usage(`The source ${source.slug} does not accept subpaths, but --path requires them; ${advice}`);
  }
  return [
    ...filter.map(conditionOf),
    ...(eventType ? [{ field: eventTypeField(source), operator: 'in' as const, value: eventType }] : []),
    ...(path === undefined ? [] : [belowPath(path)]),
  ];
}

function conditionOf(text: string): FilterConditionInput {
  const [, field, operator, value] = /^(\S+)\s+(\S+)(?:\s+(.+))?$/s.exec(text.trim()) ?? [];
  if (field === undefined || operator === undefined)
    throw usage(
      `--filter must be "<field> <operator> <value>" (for example "payload.kind equals order.paid"), not "${text}"`,
    );
  // The service knows the operators, and says which there are.
  const named = { field, operator: operator as FilterConditionInput['operator'] };
  return value === undefined ? named : { ...named, value: valueIn(value) };
}

/** As JSON if it is some: `5`, `true`, `["a"]`, `"5"`; else the text itself. */
function valueIn(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return text;
  }
}

/** Where the provider of the source says what happened; other senders mostly say it in `type`. */
function eventTypeField({ provider, verificationConfig, slug }: Source): string {
  const name = provider ?? verificationConfig.type;
  const known = providerNamed(name);
  if (known === undefined) return 'payload.type';
  const { eventType, title } = known;
  if (eventType === undefined)
    throw usage(`Webhooks from ${title} have no event type, so --event-type cannot be used with ${slug}`);
  return 'header' in eventType ? `headers.${eventType.header}` : `payload.${eventType.payload}`;
}

function belowPath(path: string): FilterConditionInput {
  const plain = path.replace(/^\/*/, '/').replace(/\/+$/, '');
  const escaped = plain.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return { field: 'request.path', operator: 'matches', value: `^${escaped}(?:/|$)` };
}
