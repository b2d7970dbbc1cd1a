// What a filter holds (decisions, "Routes, filters, transforms, schemas").
import { z } from 'zod';
import type { Filter } from '../../db/entities.ts';
import { conditions, logic, shownConditions } from './filter-conditions.ts';
import { namedRows, usedRows } from './named.ts';
import { answerShape, createShape, defaultsOf, membersOf, optional, required, updateShape } from './table.ts';

/** Clients may send what is `required` or `optional`, with its default, and a slug; the others are only shown. */
export const filterMembers = membersOf<Filter>()({
  ...namedRows('flt', 'Paid orders'),
  conditions: required(conditions.min(1), { answer: shownConditions }),
  logic: optional(logic, 'AND'),
  ...usedRows,
});

export const filterDefaults = defaultsOf(filterMembers);

export const createFilterSchema = z.object(createShape(filterMembers));
export const updateFilterSchema = z.object(updateShape(filterMembers));
export const filterAnswer = z.object(answerShape(filterMembers)).meta({ id: 'Filter' });
