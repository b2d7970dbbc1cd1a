// The config of a channel of alerts, opened. The API seals it (api/resources/alerts/alert-channel-config.ts).
import type { ChannelConfig, ChannelType, OpenChannel } from '../../core/messages/channel.ts';
import type { SecretBox } from '../encryption/secret-box.ts';

/** The columns of a channel that say where it leads. */
export interface StoredConfig {
  id: string;
  type: ChannelType;
  config?: string | null;
  notifyEmails?: string | null;
}

/** The stored config, secrets in clear. @throws DecryptionError */
export function openConfig(secretBox: SecretBox, { id, type, config, notifyEmails }: StoredConfig): ChannelConfig {
  if (type === 'mail') return { type, emails: notifyEmails ?? '' };
  if (config === null || config === undefined) throw new Error(`the channel ${id} has no config`);
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
