import { expect } from 'chai';
import { expectInvalid } from '../support/api-client.ts';
import {
  deliveryOf,
  forgetQueued,
  ingest,
  makeDestination,
  makePipeline,
  type Pipeline,
  recordAttempt,
} from '../support/api-records.ts';
import { useOrganization } from '../support/use-hookyard.ts';

const HOUR = 3_600_000;

describe('Statistics', () => {
  const organization = useOrganization();
  afterEach(() => forgetQueued(organization));

  /** Delivers one event per outcome; the latency of the n-th is n * 10 ms. */
  async function deliver(
    outcomes: ('delivered' | 'failed')[],
    completedAt: () => Date = () => new Date(),
  ): Promise<Pipeline> {
    const pipeline = await makePipeline(organization);
    for (const [index, deliveryStatus] of outcomes.entries()) {
      const eventId = await ingest(organization, pipeline.source, '{}');
      const { id: deliveryId } = await deliveryOf(organization, eventId);
      await recordAttempt({
        eventId,
        deliveryId,
        deliveryStatus,
        latency: (index + 1) * 10,
        completedAt: completedAt(),
      });
    }
    return pipeline;
  }
  const outcomes = (delivered: number, failed: number) => [
    ...Array.from({ length: delivered }, () => 'delivered' as const),
    ...Array.from({ length: failed }, () => 'failed' as const),
  ];

  it('is unknown for a new destination, in both families', async () => {
    const { id } = await makeDestination(organization);
    for (const path of [`/api/destinations/${id}/health`, `${organization.base}/destinations/${id}/health`]) {
      expect(await organization.api.get(path)).to.deep.equal({
        successRate: 0,
        avgLatency: 0,
        p50Latency: 0,
        p95Latency: 0,
        p99Latency: 0,
        totalDeliveries: 0,
        successfulDeliveries: 0,
        failedDeliveries: 0,
        lastDeliveryAt: null,
        lastSuccessAt: null,
        lastFailureAt: null,
        status: 'unknown',
      });
    }
  });

  const bands: [string, number, number][] = [
    ['healthy', 20, 0],
    ['degraded', 19, 1],
    ['degraded', 4, 1],
    ['failing', 3, 1],
    ['failing', 0, 1],
  ];
  for (const [status, delivered, failed] of bands) {
    it(`is ${status} with ${delivered} successes and ${failed} failures`, async () => {
      const { destination } = await deliver(outcomes(delivered, failed));
      const health = await organization.api.get(`/api/destinations/${destination.id}/health`);
      expect(health).to.include({
        status,
        successRate: Math.round((10_000 * delivered) / (delivered + failed)) / 100,
        totalDeliveries: delivered + failed,
        successfulDeliveries: delivered,
        failedDeliveries: failed,
      });
    });
  }

  it('shows latencies: the mean, and percentiles by nearest rank', async () => {
    const { destination } = await deliver(outcomes(10, 0));
    const health = await organization.api.get(`/api/destinations/${destination.id}/health`);
    expect(health).to.include({ avgLatency: 55, p50Latency: 50, p95Latency: 100, p99Latency: 100 });
  });

  it('forgets what is older than the window, except totals and last times', async () => {
    const longAgo = new Date(Date.now() - 25 * HOUR);
    const { destination } = await deliver(outcomes(1, 1), () => longAgo);
    expect(await organization.api.get(`/api/destinations/${destination.id}`)).to.include({
      successRate: null,
      avgLatency: null,
      deliveriesCount: 2,
      lastDeliveryAt: longAgo.toISOString(),
    });
    expect(await organization.api.get(`/api/destinations/${destination.id}/health`)).to.include({
      status: 'unknown',
      totalDeliveries: 0,
      lastSuccessAt: longAgo.toISOString(),
      lastFailureAt: longAgo.toISOString(),
    });
  });

  it('sums a route over its period', async () => {
    const { route } = await deliver(outcomes(2, 1));
    const stats = (period: string) => organization.api.get(`/api/routes/${route.id}/stats${period}`);
    const figures = { eventsRouted: 3, eventsFiltered: 0, deliveriesSucceeded: 2, deliveriesFailed: 1, avgLatency: 20 };
    expect(await stats('')).to.deep.equal({ ...figures, period: '24h' });
    for (const period of ['1h', '24h', '7d', '30d']) {
      expect(await stats(`?period=${period}`)).to.deep.equal({ ...figures, period });
    }
    expectInvalid(await organization.api.request('GET', `/api/routes/${route.id}/stats?period=1y`), 'period');
    const shown = await organization.api.get(`/api/routes/${route.id}`);
    expect(shown).to.include({ eventsRouted: 3 });
    expect(shown.lastEventAt).to.match(/Z$/);
  });

  it('counts what a schema refused as failed by the route, and not against the destination that never saw it', async () => {
    const { id: schemaId } = await organization.api.create('/api/schemas', {
      name: 'Numbers',
      schema: { type: 'object', required: ['n'] },
    });
    const { source, destination, route } = await makePipeline(organization);
    await organization.api.patch(`/api/routes/${route.id}`, { schemaId });
    const eventId = await ingest(organization, source, '{}');
    await organization.api.post(`${organization.base}/events/${eventId}/replay`);
    const ofRoute = { eventsRouted: 1, deliveriesSucceeded: 0, deliveriesFailed: 2 };
    expect(await organization.api.get(`/api/routes/${route.id}/stats`)).to.include(ofRoute);
    const ofDestination = { status: 'unknown', totalDeliveries: 0, lastFailureAt: null };
    expect(await organization.api.get(`/api/destinations/${destination.id}/health`)).to.include(ofDestination);
    expect(await organization.api.get(`/api/destinations/${destination.id}`)).to.include({
      successRate: null,
      deliveriesCount: 0,
    });
  });
});
