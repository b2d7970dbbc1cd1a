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
    "`operator`: an operator command or a sign-in link. `provider`: a provider that sent a source's secret.",
  ),
  keyId: idOf('key').nullable(),
  keyName: text('Deployment', "The key's name at that time.").nullable(),
  address: text('203.0.113.7').nullable(),
  userAgent: text('curl/8.5.0').nullable(),
  requestId: text('req_06f3k2v8q0e7x1c5b9m4n6p8qr').nullable(),
  action: text(
    'updateSource',
    'The operation ID, an operator command, `useKey` (an API key was used from an address that it does not allow) or `rememberSecret` (a provider sent its secret).',
  ),
  resource: text('sources', 'The resource, as named in scopes.'),
  recordIds: withExample(z.array(z.string()), [exampleId('src')], `The IDs of the first ${MAX_RECORD_IDS} records.`),
  recordCount: withExample(count, 1),
  members: withExample(z.array(z.string()), ['enabled'], 'Names of the fields that were sent, never their values.'),
  outcome: z.enum(OUTCOMES).describe('`refused`: the request was invalid or not allowed. `failed`: a server error.'),
  status: withExample(
    z.int().nullable(),
    null,
    'The status code of a refused, failed or repeated request. Null otherwise, and for internal errors.',
  ),
  code: withExample(text('FORBIDDEN').nullable(), null),
});

export const auditOperation = operation('listAuditRecords', 'get', '/api/audit', {
  tag: 'Audit',
  summary: 'List audit log entries',
  description:
    'Includes every request that can change something or that reads payloads or secrets. Identical reads, and identical requests that were refused or failed, are recorded at most once a minute. Entries are kept for ' +
    '`HOOKYARD_AUDIT_RETENTION_DAYS` days (0: forever) and cannot be changed.',
  query: z.object({
    ...partParams,
    from: timeParam,
    to: timeParam,
    keyId: textParam,
    action: withExample(textParam, 'updateSource', 'The action, as in the entries.'),
    resource: withExample(textParam, 'sources', 'The resource, as named in scopes.'),
    recordId: textParam.describe('Entries about the record with this ID.'),
    outcome: choiceParam(OUTCOMES),
  }),
  answer: {
    description: 'One page, newest first.',
    schema: partOfList(auditRecord),
  },
  async run(ctx, { query }) {
    const part = partOf(ctx, query, isAuditCursor);
    const { records, ...found } = await listAuditRecords(ctx.deps.pool, organizationId(ctx), query, part);
    return partAnswer(records, found, query);
  },
});
