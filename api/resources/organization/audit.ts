// The audit log of the organization: who changed what, and who read payloads and secrets.
import { z } from 'zod';
import { isAuditCursor, listAuditRecords, MAX_RECORD_IDS, OUTCOMES } from '../../../db/organizations/audit.ts';
import { organizationId } from '../../request/context.ts';
import { component, count, exampleId, idOf, partOfList, text, timestamp, withExample } from '../values.ts';
import { operation } from '../../request/operation.ts';
import { choiceParam, partAnswer, partOf, partParams, textParam, timeParam } from '../../request/query.ts';

const auditRecord = component('AuditRecord', {
  id: idOf('aud'),
  at: timestamp,
  actor: withExample(
    z.enum(['key', 'operator', 'provider']),
    'key',
    'An operator works on the database itself, or has given somebody a sign-in link; a provider has sent the secret of its source.',
  ),
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
  recordIds: withExample(z.array(z.string()), [exampleId('src')], `The first ${MAX_RECORD_IDS} of them.`),
  recordCount: withExample(count, 1),
  members: withExample(z.array(z.string()), ['enabled'], 'The names of what was sent, never a value.'),
  outcome: z
    .enum(OUTCOMES)
    .describe('`refused`: the request was wrong or not allowed; `failed`: the service could not do it.'),
  status: withExample(z.int().nullable(), null, 'Of a request that was refused or failed.'),
  code: withExample(text('FORBIDDEN').nullable(), null),
});

export const auditOperation = operation('listAuditRecords', 'get', '/api/audit', {
  tag: 'Audit',
  summary: 'List who did what',
  description:
    'Every request that may change something, and those that read payloads or secrets in clear. Kept for ' +
    '`HOOKYARD_AUDIT_RETENTION_DAYS`; nobody can change a record.',
  query: z.object({
    ...partParams,
    from: timeParam,
    to: timeParam,
    keyId: textParam,
    action: withExample(textParam, 'updateSource', 'The id of an operation of this description.'),
    resource: withExample(textParam, 'sources', 'The kind of records, as scopes name it.'),
    recordId: textParam.describe('The id of any record: what was done to it.'),
    outcome: choiceParam(OUTCOMES),
  }),
  answer: {
    description: 'One page, newest first.',
    schema: partOfList(auditRecord),
  },
  async run(ctx, deps, { query }) {
    const part = partOf(ctx, query, isAuditCursor);
    const { records, ...found } = await listAuditRecords(deps.pool, organizationId(ctx), query, part);
    return partAnswer(records, found, query);
  },
});
