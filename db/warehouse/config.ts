// The `config` of warehouse destinations at rest: encrypted as a whole, with the record's id as associated data.
import { z } from 'zod';
import { type ErrorSummary, named, ownWords } from '../../core/text/error-summary.ts';
import { type WarehouseConfig, warehouseConfigSchemas, type WarehouseType } from '../../core/warehouse/config.ts';
import type { SecretBox } from '../encryption/secret-box.ts';

export interface StoredWarehouse {
  id: string;
  type: WarehouseType;
  config: string | null | undefined;
}

/** A type with its config in clear: never logged, never in a history, never in an error. */
export type OpenedConfig = { [Type in WarehouseType]: { type: Type; config: WarehouseConfig<Type> } }[WarehouseType];

export type DecryptedConfig = ({ ok: true } & OpenedConfig) | { ok: false; message: ErrorSummary };

export function encryptedWarehouseConfig(
  secretBox: SecretBox,
  id: string,
  config: Readonly<Record<string, unknown>>,
): string {
  return secretBox.encrypt(JSON.stringify(config), id);
}

/**
 * A stored config, secret in clear, complete or not; null when there is none.
 * @throws DecryptionError when the encryption key is missing or wrong
 */
export function openWarehouseConfig(
  secretBox: SecretBox,
  { id, config }: Pick<StoredWarehouse, 'id' | 'config'>,
): Record<string, unknown> | null {
  if (config === null || config === undefined) return null;
  return z.record(z.string(), z.unknown()).parse(JSON.parse(secretBox.decrypt(config, id)));
}

/**
 * A stored config for use, secret in clear. With the `id` and `version` of the record it is a `WarehouseTarget`.
 * @returns `ok: false` when the destination was imported without its credentials and nobody has set them since
 * @throws DecryptionError when the encryption key is missing or wrong
 */
export function decryptedWarehouseConfig(secretBox: SecretBox, stored: StoredWarehouse): DecryptedConfig {
  const { type } = stored;
  const parsed = warehouseConfigSchemas[type].safeParse(openWarehouseConfig(secretBox, stored) ?? {});
  if (parsed.success) return { ok: true, type, config: parsed.data } as { ok: true } & OpenedConfig;
  const fields = [...new Set(parsed.error.issues.map(({ path }) => path.map(String).join('.')))];
  return { ok: false, message: ownWords`The destination's config is missing ${named(fields.join(', '))}` };
}
