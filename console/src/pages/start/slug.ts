/**
 * A slug that is proposed for a name: small letters, digits and hyphens. The API writes all scripts in Latin letters
 * where it makes a slug; its table is too large for a page, so a name without Latin letters gets a hash here. Empty for
 * an empty name.
 */
export function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, 63)
    .replace(/-$/, '');
  return slug === '' && name.trim() !== '' ? `source-${hash(name.trim())}` : slug;
}

/** FNV-1a: the same name gets the same slug, other names another one. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value.toString(36);
}
