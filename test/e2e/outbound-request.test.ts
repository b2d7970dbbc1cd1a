import { expect } from 'chai';
import { valueBytes } from '../../core/http/headers.ts';
import { useHookyard } from '../support/use-hookyard.ts';

describe('the request of a delivery', () => {
  const { testInstance, records, receiver } = useHookyard();

  it('has headers beyond ASCII byte by byte, while everything else reads their text', async () => {
    const answered = { status: 200, headers: { 'x-city': valueBytes('Łódź'), 'x-old': 'Zürich' } };
    const endpoint = receiver.endpoint(answered);
    const code = 'export default ({ headers }) => ({ customer: headers["x-customer"], old: headers["x-old"] })';
    const { id: transformId } = await testInstance.client.create<{ id: string }>('/api/transforms', {
      ...{ name: 'Customer', type: 'javascript', code },
    });
    const secret = 'contraseña-ключ-sixteen';
    const { source } = await records.pipe(endpoint.url, {
      source: { verificationConfig: { type: 'header_token', header: 'X-Token', secret } },
      destination: {
        ...{ headers: { 'X-Team': 'Équipe Łódź' }, authType: 'custom_header' },
        authConfig: { headerName: 'X-Sent-Token', headerValue: secret },
      },
      route: { transformId, filterConditions: [{ field: 'headers.x-customer', operator: 'equals', value: 'Renée' }] },
    });
    const sent = { 'x-customer': valueBytes('Renée'), 'x-old': 'Renée', from: ['a@b.example', 'c@d.example'] };
    const headers = { 'content-type': 'application/json', 'x-token': valueBytes(secret), ...sent };
    const eventId = await records.accepted(source, '{}', headers);
    const delivery = await records.deliveryWith('delivered', eventId);
    const [request] = endpoint.requests;
    expect(request?.body.toString()).to.equal('{"customer":"Renée","old":"Renée"}');
    expect(request?.headers).to.include({
      ...{ 'x-customer': valueBytes('Renée'), 'x-old': 'Renée', from: 'a@b.example, c@d.example' },
      ...{ 'x-team': valueBytes('Équipe Łódź'), 'x-sent-token': valueBytes(secret) },
    });
    const [attempt] = delivery.attempts;
    expect(attempt?.requestHeaders).to.include({ 'x-customer': 'Renée', 'X-Team': 'Équipe Łódź' });
    expect(attempt?.responseHeaders).to.include({ 'x-city': 'Łódź', 'x-old': 'Zürich' });
    const event = await records.event(eventId);
    expect(event.headers).to.include({ 'x-customer': 'Renée', 'x-old': 'Renée', from: 'a@b.example, c@d.example' });
    expect(event.headers).to.not.have.any.keys('x-token');
    const { request: shown } = await testInstance.client.get<{ request: { headers: object } }>(
      `/api/deliveries/${delivery.id}/request`,
    );
    expect(shown.headers).to.include({ 'x-customer': 'Renée', 'X-Team': 'Équipe Łódź' });
    const wrong = await records.post(source, '{}', { ...headers, 'x-token': valueBytes(`${secret}é`) });
    expect(wrong.status).to.equal(401);
  });
});
