import { expect } from 'chai';
import { identityNeeds, parseIdentityGrant } from '../../core/warehouse/identity.ts';
import { warehouseConfigSchemas } from '../../core/warehouse/config.ts';

describe('the identity of this service', () => {
  it('is listed by organization, type, bucket and prefix', () => {
    const grant = (type: string, bucket: string, prefix = '') => ({ type, organization: 'acme', bucket, prefix });
    expect(parseIdentityGrant('acme:s3:events')).to.deep.equal(grant('s3', 'events'));
    expect(parseIdentityGrant('acme:s3:events/a/b/')).to.deep.equal(grant('s3', 'events', 'a/b'));
    expect(parseIdentityGrant('acme:gcs:my_lake/in')).to.deep.equal(grant('gcs', 'my_lake', 'in'));
    expect(parseIdentityGrant('acme:azure_blob:lake/events')).to.deep.equal(grant('azure_blob', 'lake/events'));
    expect(parseIdentityGrant('acme:azure_blob:lake/events/in')).to.deep.equal(
      grant('azure_blob', 'lake/events', 'in'),
    );
    expect(parseIdentityGrant('acme:r2:events/in')).to.deep.equal(grant('r2', 'events', 'in'));
    for (const entry of ['acme:events', 'acme:r2:Events', 'acme:azure_blob:lake', ':s3:events', 'acme:s3:', 'a:s3:b:c'])
      expect(parseIdentityGrant(entry), entry).to.equal(null);
  });

  it('is needed by a config that says so, for its own type', () => {
    const grants = ['acme:s3:events', 'acme:gcs:events'].map(parseIdentityGrant).filter((grant) => grant !== null);
    const s3 = warehouseConfigSchemas.s3.parse({ bucket: 'events', region: 'eu-west-1', credentials: 'identity' });
    expect(identityNeeds({ type: 's3', config: s3 }, grants)).to.deep.equal({ bucket: 'events', grants: [grants[0]] });
    const azure = warehouseConfigSchemas.azure_blob.parse({
      ...{ accountName: 'lake', containerName: 'events', credentials: 'identity' },
    });
    expect(identityNeeds({ type: 'azure_blob', config: azure }, grants)).to.deep.equal({
      bucket: 'lake/events',
      grants: [],
    });
    const own = warehouseConfigSchemas.r2.parse({ bucket: 'events' });
    expect(identityNeeds({ type: 'r2', config: own }, grants)).to.equal(null);
  });
});
