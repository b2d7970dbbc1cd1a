import { expect } from 'chai';
import { pino } from 'pino';
import type { OtelVariables } from '../../telemetry/otel-variables.ts';
import { temporalMetrics } from '../../worker/temporal/metrics.ts';

const log = pino({ level: 'silent' });
const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
const METRICS = 'http://collector:4318/v1/metrics';

/** Of a worker that serves no metrics. */
async function sentTo(variables: OtelVariables) {
  const made = await temporalMetrics({ OTEL_EXPORTER_PROMETHEUS_PORT: 0 }, variables, log);
  expect(made?.text).to.equal(undefined);
  const metrics = made?.options.metrics;
  return metrics && 'otel' in metrics ? metrics : null;
}

describe("the metrics of Temporal's SDK", () => {
  it('are served where the worker serves its own, also when these are sent', async () => {
    const made = await temporalMetrics({ OTEL_EXPORTER_PROMETHEUS_PORT: 9465 }, ENDPOINT, log);
    expect(made?.options.metrics)
      .to.have.property('prometheus')
      .and.have.property('bindAddress')
      .match(/^127\.0\.0\.1:\d+$/);
    expect(made?.text).to.be.a('function');
  });

  const rows: [OtelVariables, string | null][] = [
    [{}, null],
    [ENDPOINT, METRICS],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }, METRICS],
    [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'https://collector/own' }, 'https://collector/own'],
    [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'https://collector/own' }, 'https://collector/own'],
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'true' }, null],
    [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, null],
    [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/protobuf' }, METRICS],
  ];
  for (const [variables, url] of rows) {
    it(`are sent ${url === null ? 'nowhere' : `to ${url}`} with ${JSON.stringify(variables)}`, async () => {
      expect((await sentTo(variables))?.otel.url ?? null).to.equal(url);
    });
  }

  it('are sent with the headers, as often and under the names that the variables give', async () => {
    const sent = await sentTo({
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-team=blue%20sky, x-key = a=b ,nonsense,x-bad=%zz,=x',
      OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'x-key=own',
      OTEL_METRIC_EXPORT_INTERVAL: '5000',
    });
    expect(sent?.otel).to.deep.include({ http: true, useSecondsForDurations: true, metricsExportInterval: 5000 });
    expect(sent?.otel.headers).to.deep.equal({ 'x-team': 'blue sky', 'x-key': 'own' });
    expect(sent?.globalTags).to.include({ 'service.name': 'hookyard-worker' }).and.have.property('service.instance.id');
    expect(Object.keys(sent?.globalTags ?? {}).join()).to.not.match(/telemetry/);
    expect((await sentTo({ ...ENDPOINT, OTEL_METRIC_EXPORT_INTERVAL: 'soon' }))?.otel.metricsExportInterval).to.equal(
      60_000,
    );
  });
});
