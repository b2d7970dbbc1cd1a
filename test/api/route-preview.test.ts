// POST /api/routes/{id}/preview: what a route would make of a stored event, and nothing is sent.
import { expect } from 'chai';
import { expectError, expectInvalid, type Json } from '../support/api-client.ts';
import { clientWith, ingest, makeDestination, makePipeline, makeRoute, makeSource } from '../support/api-records.ts';
import { testPool } from '../support/service.ts';
import { useOrganization, useReceiver } from '../support/use-hookyard.ts';
import { removePayload } from '../support/rows.ts';

interface Preview {
  verdict: string;
  error: string | null;
  schemaErrors: { path: string; message: string }[];
  content: { bodySize: number; body: string; bodyEncoding?: string; isCut: boolean } | null;
  requests: {
    destinationId: string;
    enabled: boolean;
    request: { method: string; url: string; headers: Record<string, string>; bodySize: number } | null;
    problem: { code: string; message: string } | null;
  }[];
}

const ORDER = JSON.stringify({ kind: 'order.paid', total: 12345678901234567890n.toString() });
const isPaid = [{ field: 'payload.kind', operator: 'equals', value: 'order.paid' }];

describe('The preview of a route', () => {
  const organization = useOrganization();
  const receiver = useReceiver();

  const preview = (routeId: string, eventId: unknown, api = organization.api) =>
    api.request<Preview & Json>('POST', `/api/routes/${routeId}/preview`, { eventId });
  /** A route with these members, and an event of its source that was there before. */
  async function scene(members: Json, { body = ORDER as string | Uint8Array<ArrayBuffer>, destination = {} } = {}) {
    const source = await makeSource(organization);
    const eventId = await ingest(organization, source, body);
    const { id: destinationId } = await makeDestination(organization, destination);
    const route = await makeRoute(organization, source.id, [destinationId], members);
    return { source, eventId, destinationId, routeId: route.id };
  }
  async function previewed(...args: Parameters<typeof scene>): Promise<Preview & { destinationId: string }> {
    const made = await scene(...args);
    const answer = await preview(made.routeId, made.eventId);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return { ...answer.body, destinationId: made.destinationId };
  }

  it('shows the request that each destination would get, secrets masked, and sends nothing', async () => {
    const endpoint = receiver.endpoint();
    const destination = {
      ...{ url: endpoint.url, method: 'PUT', headers: { 'X-Tenant': 'acme' } },
      ...{ authType: 'bearer', authConfig: { token: 'the-secret-token-of-it' } },
    };
    const made = await scene({ filterConditions: isPaid, enabled: false }, { destination });
    const off = await makeDestination(organization, { enabled: false });
    const both = [made.destinationId, off.id];
    await organization.api.patch(`/api/routes/${made.routeId}`, { destinationIds: both });
    const { status, body } = await preview(made.routeId, made.eventId);
    expect(status).to.equal(200);
    expect(body).to.include({ verdict: 'taken', error: null, routeId: made.routeId, eventId: made.eventId });
    expect(body.content).to.deep.equal({ bodySize: ORDER.length, body: ORDER, isCut: false });
    expect(body.requests.map(({ destinationId, enabled }) => [destinationId, enabled])).to.deep.equal([
      [made.destinationId, true],
      [off.id, false],
    ]);
    const request = body.requests[0]?.request;
    expect(request).to.include({ method: 'PUT', url: endpoint.url, bodySize: ORDER.length });
    expect(request?.headers).to.include({ 'X-Tenant': 'acme', 'X-Hookyard-Event-Id': made.eventId });
    expect(JSON.stringify(body)).to.include('••••').and.not.include('the-secret-token');
    expect(endpoint.requests).to.have.length(0);
    expect((await organization.api.list(`/api/deliveries?eventId=${made.eventId}`)).pagination.total).to.equal(0);
  });

  it('shows what the transform makes of it, or why it fails', async () => {
    const transform = async (code: string) =>
      (await organization.api.create('/api/transforms', { name: 'T', type: 'jsonata', code })).id;
    const made = await previewed({ transformId: await transform('{"kind": payload.kind}') });
    expect(JSON.parse(made.content?.body ?? '')).to.deep.equal({ kind: 'order.paid' });
    const failed = await previewed({ transformId: await transform('$error("it is broken")') });
    expect(failed).to.deep.include({ verdict: 'taken', content: null });
    expect(failed.requests[0]).to.deep.include({ request: null });
    expect(failed.requests[0]?.problem?.code).to.equal('TRANSFORM_FAILED');
    expect(failed.requests[0]?.problem?.message).to.include('it is broken');
  });

  it('says when its filter refuses it', async () => {
    const inline = await previewed({ filterConditions: isPaid }, { body: '{"kind":"order.lost"}' });
    expect(inline).to.deep.include({ verdict: 'filtered', content: null, requests: [] });
    const { id: filterId } = await organization.api.create('/api/filters', { name: 'Paid', conditions: isPaid });
    expect(await previewed({ filterId }, { body: '{"kind":"order.lost"}' })).to.include({ verdict: 'filtered' });
    expect(await previewed({ filterId })).to.include({ verdict: 'taken' });
  });

  it('says where the payload does not match its schema', async () => {
    const schema = { type: 'object', properties: { total: { type: 'number' } } };
    const { id: schemaId } = await organization.api.create('/api/schemas', { name: 'Order', schema });
    const made = await previewed({ schemaId });
    expect(made).to.deep.include({ verdict: 'schema_failed', content: null, requests: [] });
    expect(made.error).to.include('Order');
    expect(made.schemaErrors.map(({ path }) => path).join()).to.include('total');
  });

  it('refuses events of other sources, and such without a payload', async () => {
    const { routeId, eventId } = await scene({});
    const other = await makePipeline(organization);
    expectInvalid(await preview(other.route.id, eventId), 'eventId');
    expectInvalid(await preview(routeId, 7), 'eventId');
    expectError(await preview(routeId, 'evt_none'), 404, 'RESOURCE_NOT_FOUND');
    expectError(await preview('rte_none', eventId), 404, 'RESOURCE_NOT_FOUND');
    await removePayload(testPool(), eventId);
    expectError(await preview(routeId, eventId), 410, 'PAYLOAD_EXPIRED');
  });

  it('needs to read routes and payloads, and shows an address only to keys that may read destinations', async () => {
    const { routeId, eventId } = await scene({});
    const withScopes = async (...scopes: string[]) =>
      preview(routeId, eventId, await clientWith(organization, ...scopes));
    expectError(await withScopes('routes:read'), 403, 'FORBIDDEN');
    expectError(await withScopes('payloads:read'), 403, 'FORBIDDEN');
    const some = await withScopes('routes:read', 'payloads:read');
    expect(some.body.requests[0]?.request?.url).to.equal('https://receiver.example/••••');
  });
});
