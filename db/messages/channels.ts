// Alert channels, besides what the object mapper does: their config, opened. The API seals it.
import type { ChannelConfig, ChannelType, OpenChannel } from '../../core/messages/channel.ts';
import type { Queryable } from '../connections/pool.ts';
import type { SecretBox } from '../encryption/secret-box.ts';
import { raw, sql } from '../connections/statements.ts';

export interface StoredConfig {
  id: string;
  type: ChannelType;
  config?: string | null;
  notifyEmails?: string | null;
}

/** The stored config, secrets in clear. @throws DecryptionError */
export function openConfig(secretBox: SecretBox, { id, type, config, notifyEmails }: StoredConfig): ChannelConfig {
  if (type === 'mail') return { type, emails: notifyEmails ?? '' };
  if (config === null || config === undefined) throw new Error(`alert channel ${id} has no config`);
  // Checked before it was sealed.
  return { ...JSON.parse(secretBox.decrypt(config, id)), type };
}

/** A channel to be sent to. @throws DecryptionError */
export function openChannel(
  secretBox: SecretBox,
  stored: StoredConfig & { previousSecret?: string | null; previousSecretUntil?: Date | null },
): OpenChannel {
  const { id, previousSecret, previousSecretUntil } = stored;
  const rotates = (previousSecretUntil?.getTime() ?? 0) > Date.now();
  return {
    id,
    config: openConfig(secretBox, stored),
    previousSecret: rotates && previousSecret ? secretBox.decrypt(previousSecret, id) : null,
  };
}

export async function existingIds(
  db: Queryable,
  table: 'sources' | 'routes' | 'destinations',
  organizationId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  return new Set(
    await sql(db).column`
      select id from ${raw(table)} where organization_id = ${organizationId} and id = any(${ids}::text[])`,
  );
}
