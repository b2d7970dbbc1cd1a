// Who makes the first attempt of a delivery: its workflow, or the relay, which starts a workflow only when something is left
// to do. Records, statuses and guarantees are the same in both.
export const LANES = ['workflow', 'express'] as const;
export type Lane = (typeof LANES)[number];

// What a service or a route may be set to. `adaptive`: each worker chooses one of the two for each delivery (lane-rule.ts).
export const LANE_SETTINGS = ['adaptive', ...LANES] as const;
export type LaneSetting = (typeof LANE_SETTINGS)[number];
