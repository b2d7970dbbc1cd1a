// What a transform holds.
import { z } from 'zod';
import { isMediaType } from '../../../core/http/headers.ts';
import { TRANSFORM_TYPES } from '../../../core/config/transform-types.ts';
import type { Transform } from '../../../db/entities.ts';
import { namedRows, usedRows } from './named-members.ts';
import {
  answerShape,
  createShape,
  defaultsOf,
  membersOf,
  optional,
  readOnly,
  required,
  updateShape,
} from '../table.ts';
import { version } from '../values.ts';

const MAX_CODE_LENGTH = 100_000;

const code = z
  .string()
  .max(MAX_CODE_LENGTH)
  .refine((text) => text.trim() !== '', 'must not be empty')
  .meta({ examples: ['{ "id": payload.order.id }'] });
const outputContentType = z
  .string()
  .refine(isMediaType, 'must be a media type, for example application/xml')
  .nullable()
  .meta({ examples: ['application/json'] });

/** Clients may send what is `required` or `optional`, with its default, and a slug; the others are read-only. */
export const transformMembers = membersOf<Transform>()({
  ...namedRows('tfm', 'To the CRM'),
  type: required(z.enum(TRANSFORM_TYPES)),
  code: required(code),
  outputContentType: optional(outputContentType, null),
  version: readOnly(version),
  ...usedRows,
});

export const transformDefaults = defaultsOf(transformMembers);

export const createTransformSchema = z.object(createShape(transformMembers));
export const updateTransformSchema = z.object(updateShape(transformMembers));
export const transformAnswer = z.object(answerShape(transformMembers)).meta({ id: 'Transform' });

/** Input of the test endpoint; nothing is stored. */
const { type, code: codeRow, outputContentType: outputRow } = transformMembers;
export const codeShape = createShape({ type, code: codeRow, outputContentType: outputRow });
