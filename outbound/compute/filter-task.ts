// Conditions and a sample, tried out in a thread.
import { BudgetError, TimedBudget } from '../../core/fairness/budget.ts';
import type { FilteredRequest } from '../../core/filters/fields.ts';
import { compileFilter } from '../../core/filters/filter.ts';
import { readSample } from '../../core/forms/index.ts';
import { parseExact } from '../../core/text/exact-json.ts';
import type { FilterResult, FilterTask, FilterTrial } from './types.ts';

/** As much as the filters of one webhook have. */
const TRIAL_MS = 1000;

export function tryFilter({ trial }: FilterTask): FilterResult {
  const given = parseExact(trial) as FilterTrial;
  const budget = new TimedBudget(TRIAL_MS);
  const request = requestOf(given);
  try {
    const filter = compileFilter(given.conditions, given.logic, budget);
    const met = filter.explain(request, budget);
    const matches = given.logic === 'OR' ? met.length === 0 || met.includes(true) : !met.includes(false);
    return { ok: true, matches, met };
  } catch (error) {
    if (error instanceof BudgetError) return { ok: false, problem: error.message };
    throw error;
  }
}

function requestOf({ method, headers, path, query: text, payload }: FilterTrial): FilteredRequest {
  const query = new URLSearchParams(text);
  const seen = readSample(payload, headers['content-type']);
  return { method, headers, path, query: () => query, payload: () => seen };
}
