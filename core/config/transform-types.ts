/** The languages of transforms. Each has its file in outbound/transforms/. */
export const TRANSFORM_TYPES = ['jsonata', 'javascript', 'liquid'] as const;

export type TransformType = (typeof TRANSFORM_TYPES)[number];
