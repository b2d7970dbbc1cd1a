// The audit log of the organization: who changed what, and who read payloads and secrets.
import { z } from 'zod';
import {
  type AuditRecord,
  isAuditCursor,
  listAuditRecords,
  MAX_RECORD_IDS,
  OUTCOMES,
} from '../../../db/organizations/audit.ts';
import { type ApiDeps, type Context, organizationId } from '../../request/context.ts';
import { count, exampleId, idOf, partOfList, text, timestamp } from '../values.ts';
import type { Operation } from '../../request/operation.ts';
import { choiceParam, partAnswer, partOf, partParams, textParam, timeParam } from '../../request/query.ts';
import { parseQuery } from '../../request/validation.ts';

const listSchema = z.object({
  ...partParams,
  from: timeParam,
  to: timeParam,
  keyId: textParam,
  action: textParam.meta({ description: 'The id of an operation of this description.', examples: ['updateSource'] }),
  resource: textParam.meta({ description: 'The kind of records, as scopes name it.', examples: ['sources'] }),
  recordId: textParam.meta({ description: 'The id of any record: what was done to it.' }),
  outcome: choiceParam(OUTCOMES),
});

const auditRecord = z
  .object({
    id: idOf('aud'),
    at: timestamp,
    actor: z.enum(['key', 'operator', 'provider']).meta({
      description:
        'An operator works on the database itself, or has given somebody a sign-in link; a provider has sent the secret of its source.',
      examples: ['key'],
    }),
    keyId: idOf('key').nullable(),
    keyName: text('Deployment', 'As it was then.').nullable(),
    address: text('203.0.113.7').nullable(),
    userAgent: text('curl/8.5.0').nullable(),
    requestId: text('req_06f3k2v8q0e7x1c5b9m4n6p8qr').nullable(),
    action: text(
      'updateSource',
      'The id of the operation, the command of an operator, or `rememberSecret` of a provider.',
    ),
    resource: text('sources', 'The kind of records, as scopes name it.'),
    recordIds: z
      .array(z.string())
      .meta({ description: `The first ${MAX_RECORD_IDS} of them.`, examples: [[exampleId('src')]] }),
    recordCount: count.meta({ examples: [1] }),
    members: z
      .array(z.string())
      .meta({ description: 'The names of what was sent, never a value.', examples: [['enabled']] }),
    outcome: z
      .enum(OUTCOMES)
      .meta({ description: '`refused`: the request was wrong or not allowed; `failed`: the service could not do it.' }),
    status: z
      .int()
      .nullable()
      .meta({ description: 'Of a request that was refused or failed.', examples: [null] }),
    code: text('FORBIDDEN')
      .nullable()
      .meta({ examples: [null] }),
  })
  .meta({ id: 'AuditRecord' });

export const auditOperation: Operation = {
  tag: 'Audit',
  method: 'get',
  path: '/api/audit',
  operationId: 'listAuditRecords',
  run: list,
  summary: 'List who did what',
  description:
    'Every request that may change something, and those that read payloads or secrets in clear. Kept for ' +
    '`HOOKYARD_AUDIT_RETENTION_DAYS`; nobody can change a record.',
  query: listSchema,
  answer: {
    status: 200,
    description: 'One page, newest first.',
    schema: partOfList(auditRecord),
  },
};

async function list(ctx: Context, deps: ApiDeps): Promise<void> {
  const query = parseQuery(ctx, listSchema);
  const part = partOf(ctx, query, isAuditCursor);
  const { records, ...found } = await listAuditRecords(deps.pool, organizationId(ctx), query, part);
  ctx.body = partAnswer(records.map(show), found, query);
}

function show(record: AuditRecord) {
  return { ...record, at: record.at.toISOString() };
}
