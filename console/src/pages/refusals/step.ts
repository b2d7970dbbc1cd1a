// Refused webhooks are counted by the hour, and by the day where they are old.
export const HOUR_S = 3600;
const DAY_S = 86_400;
const BY_HOURS_MS = 7.5 * DAY_S * 1000;

/** The step of their figures, seconds. */
export const stepFor = (from: string | undefined): number =>
  from !== undefined && Date.now() - Date.parse(from) > BY_HOURS_MS ? DAY_S : HOUR_S;
