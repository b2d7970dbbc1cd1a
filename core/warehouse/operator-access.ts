// What of the operator's own access destinations may use: R2 keys, and the identity of this service.
import type { Settings } from '../config/config.ts';
import { type IdentityGrant, parseIdentityGrant } from './identity.ts';
import { type OperatorR2, operatorR2 } from './r2-operator.ts';

export interface OperatorAccess {
  r2: OperatorR2;
  /** Where organizations may write with the identity of this service. */
  identity: readonly IdentityGrant[];
}

export const NO_OPERATOR_ACCESS: OperatorAccess = {
  r2: operatorR2({ HOOKYARD_WAREHOUSE_IDENTITY: [] }, {}),
  identity: [],
};

export function operatorAccess(
  settings: Pick<Settings, 'HOOKYARD_WAREHOUSE_IDENTITY'>,
  env: Readonly<Record<string, string | undefined>>,
): OperatorAccess {
  const identity = settings.HOOKYARD_WAREHOUSE_IDENTITY.map(parseIdentityGrant).filter((grant) => grant !== null);
  return { r2: operatorR2(settings, env), identity };
}
