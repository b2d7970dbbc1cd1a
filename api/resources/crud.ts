// The operations that resources have in common, with what is said of them: list, create, get, update, create or replace, delete.
import type { z } from 'zod';
import type { Described, ErrorCodes, Operation, RequestBody } from '../request/operation.ts';
import { listOf } from './values.ts';

interface Step {
  run: Operation['run'];
  description?: string;
  errors?: ErrorCodes;
}

interface Write extends Step {
  body: RequestBody;
}

/** What differs between resources. */
export interface Resource extends Pick<Described, 'tag' | 'idOf'> {
  base: string;
  /** In operation ids: `Source`. */
  name: string;
  /** In sentences: `source`. */
  noun: string;
  answer: z.ZodType;
  list: Pick<Operation, 'run' | 'query'> & { item?: z.ZodType };
  /** `shows`: what is said of the answer; `leadsTo`: operations of the record besides these. */
  create: Write & { shows?: string; leadsTo?: string[] };
  get: Operation['run'];
  update: Write;
  /** The record of a slug, or of another member. */
  put?: Write & { by?: string };
  remove: Step;
}

export function crudOperations(resource: Resource): Operation[] {
  const { tag, idOf, base, name, noun, answer, list, create, get, update, put, remove } = resource;
  const common = { tag, idOf };
  const one = `${/^[aeiou]|^HTTP/.test(noun) ? 'an' : 'a'} ${noun}`;
  const { shows = `The ${noun}.`, leadsTo = [], ...creating } = create;
  const now = { status: 200, description: `The ${noun} as it is now.`, schema: answer } as const;
  const operations: Operation[] = [
    {
      ...common,
      method: 'get',
      path: base,
      operationId: `list${name}s`,
      run: list.run,
      summary: `List ${noun}s`,
      query: list.query,
      answer: { status: 200, description: 'One page, newest first.', schema: listOf(list.item ?? answer) },
    },
    {
      ...common,
      ...creating,
      method: 'post',
      path: base,
      operationId: `create${name}`,
      versioned: true,
      summary: `Create ${one}`,
      answer: {
        status: 201,
        description: shows,
        schema: answer,
        leadsTo: [`get${name}`, `update${name}`, ...leadsTo, `delete${name}`],
      },
    },
    {
      ...common,
      method: 'get',
      path: `${base}/{id}`,
      operationId: `get${name}`,
      versioned: true,
      run: get,
      summary: `Get ${one}`,
      answer: { status: 200, description: `The ${noun}.`, schema: answer },
    },
    {
      ...common,
      ...update,
      method: 'patch',
      path: `${base}/{id}`,
      operationId: `update${name}`,
      versioned: true,
      summary: `Update ${one}`,
      description: sentences('Members that are not sent stay as they are.', update.description),
      answer: now,
    },
    {
      ...common,
      ...remove,
      method: 'delete',
      path: `${base}/{id}`,
      operationId: `delete${name}`,
      versioned: true,
      summary: `Delete ${one}`,
      answer: { status: 204, description: 'It is deleted.' },
    },
  ];
  if (put === undefined) return operations;
  const { by = 'slug', ...putting } = put;
  operations.push({
    ...common,
    ...putting,
    method: 'put',
    path: `${base}/by-${by}/{${by}}`,
    operationId: `put${name}`,
    versioned: true,
    summary: `Create or replace the ${noun} of a ${by}`,
    description: sentences(
      'It becomes what a create would make of the body: what is left out goes back to its default.',
      put.description,
    ),
    answer: { ...now, ofNew: shows },
  });
  return operations;
}

const sentences = (...all: (string | undefined)[]): string => all.filter((each) => each !== undefined).join(' ');
