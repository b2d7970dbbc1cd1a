// The identity of this service in Azure: a managed identity, or a workload identity of Kubernetes, by Azure's own library. It asks its own
// endpoints by its own transport, a link-local one among them; only for whom the operator allows it (WH-43). Not the library's default
// chain, which runs programs of developers.
// Rules: WH-42.
import type { TokenCredential } from '@azure/identity';
import { IdentityError } from './store.ts';

export async function azureIdentity(): Promise<TokenCredential> {
  const { ManagedIdentityCredential, WorkloadIdentityCredential } = await import('@azure/identity');
  const { AZURE_CLIENT_ID: clientId, AZURE_FEDERATED_TOKEN_FILE: federated } = process.env;
  const credential = federated
    ? new WorkloadIdentityCredential()
    : new ManagedIdentityCredential(clientId === undefined ? {} : { clientId });
  return {
    async getToken(scopes, options) {
      try {
        return await credential.getToken(scopes, options);
      } catch (error) {
        throw new IdentityError(error);
      }
    },
  };
}
