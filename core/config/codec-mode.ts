/**
 * What a process does with Temporal payloads: `decode` writes them plain and reads both; the step between `off` and
 * `on`.
 */
export const CODEC_MODES = ['off', 'decode', 'on'] as const;
export type CodecMode = (typeof CODEC_MODES)[number];
