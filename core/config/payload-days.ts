import type { Settings } from './config.ts';

/** How many days payloads are kept; null: for ever. A payload never outlives its event. */
export function payloadDays(
  settings: Pick<Settings, 'HOOKYARD_PAYLOAD_RETENTION_DAYS' | 'HOOKYARD_EVENT_RETENTION_DAYS'>,
): number | null {
  const days = [settings.HOOKYARD_PAYLOAD_RETENTION_DAYS, settings.HOOKYARD_EVENT_RETENTION_DAYS];
  const limited = days.filter((each) => each > 0);
  return limited.length === 0 ? null : Math.min(...limited);
}
