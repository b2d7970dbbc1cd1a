// Credentials of S3 without keys in the destination: the SDK's own chain (environment, profile, web identity, container, instance), and a
// role that it assumes. The chain asks its own endpoints by the SDK's own transport, link-local ones among them, which the address guard
// refuses to everything else: nothing of a destination says where to, and it runs only for whom the operator allows it (WH-43).
// Rules: WH-42, WH-44.
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import type { WarehouseConfig } from '../../core/warehouse/config.ts';
import { IdentityError, type StoreUser } from './store.ts';

type Provider = Extract<NonNullable<S3ClientConfig['credentials']>, (...args: never[]) => unknown>;

// The longest for a role that assumes another one; the SDK asks again five minutes before the end.
const SESSION_SECONDS = 3600;

/** The SDK keeps what this gives until it ends. */
export async function s3Identity(
  { region, roleArn }: Pick<WarehouseConfig<'s3'>, 'region' | 'roleArn'>,
  user: Pick<StoreUser, 'organizationId'>,
): Promise<Provider> {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
  const own = defaultProvider();
  if (roleArn === undefined) return explained(own);
  const { AssumeRoleCommand, STSClient } = await import('@aws-sdk/client-sts');
  const sts = new STSClient({ region, credentials: own, maxAttempts: 2 });
  // An id that the service gives: a stranger who knows the role cannot have it assumed for an organization of theirs (AWS, "The confused
  // deputy problem").
  const command = new AssumeRoleCommand({
    RoleArn: roleArn,
    ExternalId: user.organizationId,
    RoleSessionName: `hookyard-${user.organizationId}`.slice(0, 64),
    DurationSeconds: SESSION_SECONDS,
  });
  return explained(async () => {
    const { Credentials } = await sts.send(command);
    if (!Credentials?.AccessKeyId || !Credentials.SecretAccessKey) throw new Error('STS gave no credentials');
    const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, SessionToken, Expiration } = Credentials;
    return {
      ...{ accessKeyId, secretAccessKey },
      ...(SessionToken !== undefined && { sessionToken: SessionToken }),
      ...(Expiration !== undefined && { expiration: Expiration }),
    };
  });
}

function explained(provider: Provider): Provider {
  return async (...args) => {
    try {
      return await provider(...args);
    } catch (error) {
      throw new IdentityError(error);
    }
  };
}
