// What must never be in a log. Tests mark secrets and payloads with PLANTED.

/** Part of every payload and secret that the end-to-end tests use. */
export const PLANTED = 'planted-7f3a91c2';
