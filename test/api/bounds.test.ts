// What the description says of a body is so: a member that is missing, of another type or beyond a bound is refused by
// its name, in every operation that looks for no record before that.
import { expect } from 'chai';
import { apiDocument } from '../../api/openapi/document.ts';
import type { Json } from '../support/api-client.ts';
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
type WrongBody = [member: string, body: Json];

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

function wrongValues(schema: Schema): unknown[] {
  const { type = '', minLength, maxLength, minimum, maximum, minItems, maxItems } = schema;
  const ofOtherTypes: Record<string, unknown[]> = {
    ...{ string: [5, {}], boolean: ['yes', 1], object: [[], 'text'], array: [{}, 'text'] },
    ...{ integer: ['x', [5], (minimum ?? 0) + 1.5], number: ['x', [5]] },
  };
  return [
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

/** Each is right but for one member. */
function wrongBodies(schema: Schema, right: Json): WrongBody[] {
  const { properties = {}, required = [] } = plain(schema);
  return Object.entries(properties).flatMap(([name, described]) => {
    const member = plain(described);
    const inner = typeof right[name] === 'object' ? (right[name] as Json) : {};
    const values = required.includes(name) ? [undefined, ...wrongValues(member)] : wrongValues(member);
    return [
      ...values.map((value): WrongBody => [name, { ...right, [name]: value }]),
      ...wrongBodies(member, inner).map(
        ([deeper, body]): WrongBody => [`${name}.${deeper}`, { ...right, [name]: body }],
      ),
    ];
  });
}

describe('What a body may be', () => {
  const organization = useOrganization();

  for (const { method, path, body } of targets) {
    const operation = paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
    const schema = operation?.requestBody?.content['application/json']?.schema;
    if (!body || !schema || /:(id|key|keyId)\b/.test(path)) continue;
    it(`${method} ${path}`, async () => {
      const wrong = wrongBodies(plain(schema, true), body);
      expect(wrong).to.not.be.empty;
      const place = path.replace(':orgId', organization.id).replaceAll(/:(slug|name)/g, 'declared');
      for (const [member, sent] of wrong) {
        const answer = await organization.api.request(method, place, sent);
        const found = `${member}: ${JSON.stringify(sent).slice(0, 300)}: ${JSON.stringify(answer.body)}`;
        expect(answer.status, found).to.equal(400);
        expect((answer.body.details as { path: string }[]).map((each) => each.path).join(), found).to.include(member);
      }
    });
  }
});
