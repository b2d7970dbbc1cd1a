// Filters: which webhooks a route accepts. Conditions are compiled once and evaluated for every event.
import { type Budget, NO_LIMIT } from '../fairness/budget.ts';
import {
  type CompiledCondition,
  compileCondition,
  ConditionError,
  type FilterCondition,
  isPatternOperator,
} from './conditions.ts';
import type { FilteredRequest } from './fields.ts';

export const FILTER_LOGICS = ['AND', 'OR'] as const;
export type FilterLogic = (typeof FILTER_LOGICS)[number];

/** Most conditions of a filter, and most of them that search with a regular expression. */
export const MAX_CONDITIONS = 50;
export const MAX_PATTERNS = 10;

export interface CompiledFilter {
  /** Whether the route accepts this webhook. A filter without conditions accepts all. @throws BudgetError */
  takes(request: FilteredRequest, budget?: Budget): boolean;
  /** Whether each condition is met, in their order. @throws BudgetError */
  explain(request: FilteredRequest, budget?: Budget): boolean[];
}

/** A condition that cannot be used, by its position. */
export interface FilterProblem {
  index: number;
  error: ConditionError;
}

/** Everything that is wrong with a list of conditions. */
export function filterProblems(conditions: readonly FilterCondition[]): FilterProblem[] {
  return conditions.flatMap((condition, index) => {
    try {
      compileCondition(condition);
      return [];
    } catch (error) {
      if (error instanceof ConditionError) return [{ index, error }];
      throw error;
    }
  });
}

/** Whether more conditions search with a regular expression than may. */
export function hasTooManyPatterns(conditions: readonly FilterCondition[]): boolean {
  return conditions.filter(({ operator }) => isPatternOperator(operator)).length > MAX_PATTERNS;
}

/**
 * Compiles conditions that were checked when they were stored.
 * @throws ConditionError for one that cannot be used all the same, BudgetError
 */
export function compileFilter(
  conditions: readonly FilterCondition[],
  logic: FilterLogic,
  budgetToCompile: Budget = NO_LIMIT,
): CompiledFilter {
  const compiled = conditions.map((condition) => compileCondition(condition, budgetToCompile));
  const isMet = ({ read, test }: CompiledCondition, request: FilteredRequest, budget: Budget) =>
    test(read(request, budget), budget);
  return {
    takes(request, budget = NO_LIMIT) {
      if (compiled.length === 0) return true;
      if (logic === 'OR') return compiled.some((condition) => isMet(condition, request, budget));
      return compiled.every((condition) => isMet(condition, request, budget));
    },
    explain: (request, budget = NO_LIMIT) => compiled.map((condition) => isMet(condition, request, budget)),
  };
}
