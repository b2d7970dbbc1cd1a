// Configuration of Schemathesis besides the API's description: existing records, what it checks, and what it skips.
import { apiDocument } from '../../../../api/openapi/document.ts';

/** Operations that are left out, and why. */
const LEFT_OUT: Record<string, string> = {
  testDestination: 'sends to whatever address was made up; test/api/destination-test-send.test.ts has it',
  testCode: 'runs made-up code for up to a second each; test/conformance/transform-attacks.test.ts has it',
};

/** Checks that are off, and why. */
const CHECKS_OFF: Record<string, string> = {
  positive_data_acceptance:
    'rules between members and records (an unknown source, a taken slug) are no part of JSON Schema',
  negative_data_rejection: 'what is not known is ignored, and a query says true in more ways than JSON has',
  ensure_resource_availability:
    'a repeated Idempotency-Key is answered with what its first request made, which may have been deleted since',
  missing_required_header: 'no operation requires a header but that of the credentials, which ignored_auth looks at',
};

/** Checks that are off for one operation, and why. */
const CHECKS_OFF_FOR: Record<string, Record<string, string>> = {
  getEventPayload: {
    response_schema_conformance:
      'a payload that is JSON would have to be a string: its schema says binary, of whatever content type',
  },
};

interface Described {
  operationId: string;
  parameters?: { in?: string; name?: string; schema?: { pattern?: string } }[];
  responses: Record<string, { links?: Record<string, unknown> }>;
}

/** Every operation of the description with its method. */
function operations(): [method: string, operation: Described][] {
  const items = Object.values(apiDocument().paths ?? {}) as Record<string, Described>[];
  return items.flatMap((item) => Object.entries(item));
}

/** All operations that are asked, by their ids. */
export function askedOperations(): string[] {
  return operations().flatMap(([, { operationId }]) => (LEFT_OUT[operationId] ? [] : operationId));
}

/** The operations from which a link leads to another one, and those to which one leads. */
export function linkedOperations(): string[] {
  const linked = operations().flatMap(([, { operationId, responses }]) => {
    const targets = Object.values(responses).flatMap(({ links = {} }) => Object.keys(links));
    return targets.length > 0 ? [operationId, ...targets] : [];
  });
  return [...new Set(linked)].filter((operationId) => !LEFT_OUT[operationId]);
}

/**
 * schemathesis.toml.
 * @param records the id of a record by the prefix of its id, and `sourceSlug`; what is not there is made up, or found
 * along links
 */
export function createConfig(
  { id, slug, token }: { id: string; slug: string; token: string },
  records: Record<string, string>,
): string {
  const paths = { orgId: id, orgSlug: slug, sourceSlug: records.sourceSlug };
  const lines = [
    'warnings = false',
    'request-timeout = 20.0',
    'continue-on-failure = true',
    'generation.max-examples = 2',
    'generation.no-shrink = true',
    'generation.database = "none"',
    '[headers]',
    `Authorization = "Bearer ${token}"`,
    '[parameters]',
    ...Object.entries(paths).flatMap(([name, value]) => (value ? `"path.${name}" = ${JSON.stringify(value)}` : [])),
    '[checks]',
    ...Object.keys(CHECKS_OFF).map((check) => `${check}.enabled = false`),
    // Along the links of the description only, and with requests as they should be: others end a chain at once.
    '[phases.stateful]',
    'generation.mode = "positive"',
    'inference.algorithms = []',
    'max-steps = 8',
  ];
  for (const operationId of Object.keys(LEFT_OUT)) lines.push(...section(operationId), 'enabled = false');
  for (const [operationId, recordId] of recordsOfOperations(records)) {
    if (!LEFT_OUT[operationId])
      lines.push(...section(operationId), `parameters = { "path.id" = ${JSON.stringify(recordId)} }`);
  }
  for (const [operationId, checks] of Object.entries(CHECKS_OFF_FOR)) {
    lines.push(...section(operationId), ...Object.keys(checks).map((check) => `checks.${check}.enabled = false`));
  }
  return `${lines.join('\n')}\n`;
}

const section = (operationId: string) => ['[[operations]]', `include-operation-id = ${JSON.stringify(operationId)}`];

/**
 * The record that each operation with an `{id}` is tried on; those that delete are tried on made-up ids and along
 * links.
 */
function recordsOfOperations(records: Record<string, string>): [operationId: string, id: string][] {
  return operations().flatMap(([method, { operationId, parameters = [] }]): [string, string][] => {
    const parameter = parameters.find((candidate) => candidate.in === 'path' && candidate.name === 'id');
    const prefix = parameter?.schema?.pattern?.match(/^\^\((\w+?)[|)]/)?.[1];
    const id = prefix === undefined ? undefined : records[prefix];
    return id === undefined || method === 'delete' ? [] : [[operationId, id]];
  });
}
