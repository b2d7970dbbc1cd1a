// An organization that has one record of every kind, each with a word in it by which it is recognised wherever it shows
// up.
import { orderKeyOf } from '../../../core/delivery/ordering.ts';
import { newId } from '../../../core/text/ids.ts';
import { deliveryOf, ingest, makeDestination, makeRoute, makeSource } from '../api-records.ts';
import { Issues, type IssueView } from '../messages/issues.ts';
import type { TestOrganization } from '../service.ts';

/** Ids and slugs by what they are of; the first is that of an ordinary one. */
export type TenantRecords = Awaited<ReturnType<typeof makeTenantRecords>>;

/** @param word a lowercase word that stands in every name, address, slug and payload */
export async function makeTenantRecords(organization: TestOrganization, word: string) {
  const { api, base } = organization;
  const named = (kind: string) => ({ name: `${word} ${kind}`, slug: `${word}-${kind}`, description: `${word} has it` });
  const source = await makeSource(organization, { ...named('source'), ingestToken: 'optional' });
  const url = `https://${word}.example/hooks`;
  const destination = await makeDestination(organization, { ...named('destination'), url });
  const failover = await makeDestination(organization, { ...named('failover'), url: `${url}/failover` });
  const lake = await api.create('/api/destinations', {
    ...named('lake'),
    type: 's3',
    config: { bucket: `${word}-bucket`, region: 'eu-central-1', accessKeyId: word, secretAccessKey: `${word}-secret` },
  });
  const condition = { field: 'payload.kind', operator: 'not_equals', value: word };
  const filter = await api.create('/api/filters', { ...named('filter'), conditions: [condition] });
  const schema = await api.create('/api/schemas', { ...named('schema'), schema: { title: word } });
  const shape = { ...named('transform'), type: 'jsonata', code: `$merge([$, {"by": "${word}"}])` };
  const transform = await api.create('/api/transforms', shape);
  const route = await makeRoute(organization, source.id, [destination.id], {
    ...{ name: `${word} route`, description: word, notifyEmails: `${word}@${word}.example` },
    ...{ filterId: filter.id, schemaId: schema.id, transformId: transform.id, failoverDestinationIds: [failover.id] },
    ordering: { key: 'payload.key' },
  });
  const event = await ingest(organization, source, JSON.stringify({ who: word }));
  const delivery = await deliveryOf(organization, event);
  await ingest(organization, source, JSON.stringify({ who: word, key: word }));
  const issue = await schemaIssue(organization, named, destination.id);
  const alertChannel = await api.create('/api/alert-channels', {
    ...{ name: `${word} channel`, type: 'webhook', routeIds: [route.id] },
    config: { url: `${url}/alerts`, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
  });
  const apiKey = await api.create('/api/api-keys', { name: `${word} key` });
  const replay = await api.post(`${base}/events/replay`, { sourceId: newId('src'), search: word });
  return {
    organization: [organization.id],
    organizationSlug: [organization.slug],
    source: [source.id],
    sourceSlug: [source.slug],
    /** The unguessable part of the source's address. */
    ingestToken: [source.webhookUrl.split('/').at(-1) ?? ''],
    destination: [destination.id, lake.id],
    destinationSlug: [`${word}-destination`, `${word}-lake`],
    failover: [failover.id],
    failoverSlug: [`${word}-failover`],
    route: [route.id],
    event: [event],
    replay: [String(replay.id)],
    delivery: [delivery.id],
    orderKey: [orderKeyOf([word])?.hash ?? ''],
    issue: [issue.id],
    apiKey: [apiKey.id],
    filter: [filter.id],
    filterSlug: [`${word}-filter`],
    transform: [transform.id],
    transformSlug: [`${word}-transform`],
    schema: [schema.id],
    schemaSlug: [`${word}-schema`],
    alertChannel: [alertChannel.id],
    /** Parts of names, addresses and payloads. */
    words: [word],
  };
}

/** An issue that holds a delivery: a webhook that a schema refuses. */
async function schemaIssue(
  organization: TestOrganization,
  named: (kind: string) => object,
  destinationId: string,
): Promise<IssueView> {
  const schema = await organization.api.create('/api/schemas', {
    ...named('strict'),
    schema: { required: ['nothing'] },
  });
  const source = await makeSource(organization, named('strict'));
  await makeRoute(organization, source.id, [destinationId], { schemaId: schema.id });
  await ingest(organization, source, '{}');
  return new Issues(organization.api).untilOpen({ sourceId: source.id });
}
