// What the description says of a body is so: a member that is missing, of another type or beyond a bound is refused by
// its name, one at a bound is not, in every operation that looks for no record before that.
import { expect } from 'chai';
import { apiDocument } from '../../api/openapi/document.ts';
import type { Answer, Json } from '../support/api-client.ts';
import { targets } from '../support/requests/right-bodies.ts';
import { useOrganization } from '../support/use-hookyard.ts';

interface Schema {
  $ref?: string;
  anyOf?: Schema[];
  oneOf?: Schema[];
  type?: string;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
}
type ChangedBody = [member: string, body: Json];
type ValuesOf = (schema: Schema, isRequired: boolean, right: unknown) => unknown[];

const { paths, components } = apiDocument() as unknown as {
  paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>;
  components: { schemas: Record<string, Schema> };
};

/** Without reference and null; of one that has alternatives nothing, or the first one. */
function plain(schema: Schema, takesFirst = false): Schema {
  if (schema.$ref) return plain(components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, takesFirst);
  const alternatives = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].filter(({ type }) => type !== 'null');
  if (alternatives.length > 1 && !takesFirst) return {};
  return alternatives[0] ? plain(alternatives[0]) : schema;
}

function wrongValues(schema: Schema, isRequired: boolean): unknown[] {
  const { type = '', minLength, maxLength, minimum, maximum, minItems, maxItems } = schema;
  const ofOtherTypes: Record<string, unknown[]> = {
    ...{ string: [5, {}], boolean: ['yes', 1], object: [[], 'text'], array: [{}, 'text'] },
    ...{ integer: ['x', [5], (minimum ?? 0) + 1.5], number: ['x', [5]] },
  };
  return [
    ...(isRequired ? [undefined] : []),
    ...(ofOtherTypes[type] ?? []),
    ...(schema.enum ? ['no such value'] : []),
    ...(minLength ? [''] : []),
    ...(maxLength ? ['x'.repeat(maxLength + 1)] : []),
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(minItems ? [[]] : []),
    ...(maxItems ? [Array(maxItems + 1).fill('x')] : []),
  ];
}

/** At a bound each. */
function rightValues(
  { maxLength, minimum, maximum, maxItems }: Schema,
  _isRequired: boolean,
  right: unknown,
): unknown[] {
  return [
    ...(maxLength ? [(typeof right === 'string' ? right : '').padEnd(maxLength, 'x')] : []),
    ...(minimum === undefined ? [] : [minimum]),
    ...(maximum === undefined ? [] : [maximum]),
    ...(maxItems ? [Array(maxItems).fill(Array.isArray(right) ? right[0] : 'x')] : []),
  ];
}

/** Each is right but for one member, which has one of the values. */
function changedBodies(schema: Schema, right: Json, valuesOf: ValuesOf): ChangedBody[] {
  const { properties = {}, required = [] } = plain(schema);
  return Object.entries(properties).flatMap(([name, described]) => {
    const member = plain(described);
    const inner = typeof right[name] === 'object' ? (right[name] as Json) : {};
    return [
      ...valuesOf(member, required.includes(name), right[name]).map(
        (value): ChangedBody => [name, { ...right, [name]: value }],
      ),
      ...changedBodies(member, inner, valuesOf).map(
        ([deeper, body]): ChangedBody => [`${name}.${deeper}`, { ...right, [name]: body }],
      ),
    ];
  });
}

/** What it says of the member; empty: nothing. */
const refusalOf = (member: string, { body: { details } }: Answer): string =>
  (Array.isArray(details) ? details : [])
    .filter(({ path }) => path === member)
    .map(({ message }) => `${member} ${message}`)
    .join();

describe('What a body may be', () => {
  const organization = useOrganization();

  for (const { method, path, body } of targets) {
    const operation = paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
    const schema = operation?.requestBody?.content['application/json']?.schema;
    if (!body || !schema || /:(id|key|keyId)\b/.test(path)) continue;
    it(`${method} ${path}`, async () => {
      const wrong = changedBodies(plain(schema, true), body, wrongValues);
      expect(wrong).to.not.be.empty;
      const own = path.replace(':orgId', organization.id);
      const known = new Set<string>();
      for (const [member, sent] of wrong) {
        const place = own.replaceAll(/:(slug|name)/g, 'declared');
        const answer = await organization.api.request(method, place, sent);
        const found = `${member}: ${JSON.stringify(sent).slice(0, 300)}: ${JSON.stringify(answer.body)}`;
        expect(answer.status, found).to.equal(400);
        expect((answer.body.details as { path: string }[]).map((each) => each.path).join(), found).to.include(member);
        known.add(refusalOf(member, answer));
      }
      // It may be refused for another reason, such as that there is no such record.
      for (const [member, sent] of changedBodies(plain(schema, true), body, rightValues)) {
        const place = own.replaceAll(/:(slug|name)/g, (_, name: string) => String(sent[name] ?? 'declared'));
        const refusal = refusalOf(member, await organization.api.request(method, place, sent));
        if (refusal !== '') expect(known.has(refusal), `${refusal}: ${JSON.stringify(sent)}`).to.equal(false);
      }
    });
  }
});
