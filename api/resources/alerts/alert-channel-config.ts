// The config of a channel: checked by its type, sealed, and shown without its secret.
import { z } from 'zod';
import { CHANNEL_SECRET, type ChannelType, channelConfigSchemas } from '../../../core/messages/channel.ts';
import { extendsRedacted, isRedacted, redactMembers } from '../../../core/text/redaction.ts';
import { openConfig, type StoredConfig } from '../../../db/messages/channels.ts';
import type { ApiDeps } from '../../request/context.ts';
import { invalid } from '../../request/errors.ts';
import { check } from '../../request/validation.ts';

type Deps = Pick<ApiDeps, 'secretBox'>;

/**
 * The columns of a config.
 * @param sent a secret that is left out or sent back masked keeps the stored one
 * @throws ApiError 400
 */
export function sealConfig(
  deps: Deps,
  id: string,
  type: ChannelType,
  sent: Record<string, unknown>,
  stored: StoredConfig | null,
): { config: string | null; notifyEmails: string | null } {
  const schema: z.ZodType<object> = channelConfigSchemas[type];
  const { config } = check(z.object({ config: schema }), { config: withSecret(deps, type, sent, stored) }, 'The body');
  if (type === 'mail') return { config: null, notifyEmails: (config as { emails: string }).emails };
  return { config: deps.secretBox.encrypt(JSON.stringify(config), id), notifyEmails: null };
}

// The masked secret is replaced first: the mask itself is not valid.
function withSecret(deps: Deps, type: ChannelType, sent: Record<string, unknown>, stored: StoredConfig | null) {
  const member = CHANNEL_SECRET[type];
  if (member === null) return sent;
  const value = sent[member];
  const isMasked = typeof value === 'string' && isRedacted(value);
  if (typeof value === 'string' && extendsRedacted(value))
    throw invalid(`config.${member}`, 'must be the full secret: a masked value only keeps a stored secret');
  if (value !== undefined && !isMasked) return sent;
  const kept = stored && (openConfig(deps.secretBox, stored) as unknown as Record<string, string>)[member];
  if (!kept && isMasked)
    throw invalid(`config.${member}`, 'must be the full secret: a masked value only keeps a stored secret');
  return kept ? { ...sent, [member]: kept } : sent;
}

export function shownConfig(deps: Deps, stored: StoredConfig): Record<string, string> {
  const { type, ...config } = openConfig(deps.secretBox, stored);
  return redactMembers<string>(config, [CHANNEL_SECRET[type] ?? []].flat());
}
