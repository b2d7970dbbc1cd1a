import { expect } from 'chai';
import { operatorsBucket, parseGrant } from '../../core/warehouse/operator-access.ts';
import { warehouseConfigSchemas } from '../../core/warehouse/config.ts';

describe('the identity of this service', () => {
  it('is listed by organization, type, bucket and prefix', () => {
    const grant = (type: string, bucket: string, prefix = '') => ({ type, organization: 'acme', bucket, prefix });
    expect(parseGrant('acme:s3:events')).to.deep.equal(grant('s3', 'events'));
    expect(parseGrant('acme:s3:events/a/b/')).to.deep.equal(grant('s3', 'events', 'a/b'));
    expect(parseGrant('acme:gcs:my_lake/in')).to.deep.equal(grant('gcs', 'my_lake', 'in'));
    expect(parseGrant('acme:azure_blob:lake/events')).to.deep.equal(grant('azure_blob', 'lake/events'));
    expect(parseGrant('acme:azure_blob:lake/events/in')).to.deep.equal(grant('azure_blob', 'lake/events', 'in'));
    expect(parseGrant('acme:r2:events/in')).to.deep.equal(grant('r2', 'events', 'in'));
    for (const entry of ['acme:events', 'acme:r2:Events', 'acme:azure_blob:lake', ':s3:events', 'acme:s3:', 'a:s3:b:c'])
      expect(parseGrant(entry), entry).to.equal(null);
  });

  it('is used by a config that says so', () => {
    const s3 = warehouseConfigSchemas.s3.parse({ bucket: 'events', region: 'eu-west-1', credentials: 'identity' });
    expect(operatorsBucket({ type: 's3', config: s3 }, {})).to.equal('events');
    const azure = warehouseConfigSchemas.azure_blob.parse({
      ...{ accountName: 'lake', containerName: 'events', credentials: 'identity' },
    });
    expect(operatorsBucket({ type: 'azure_blob', config: azure }, {})).to.equal('lake/events');
    const own = warehouseConfigSchemas.r2.parse({ bucket: 'events' });
    expect(operatorsBucket({ type: 'r2', config: own }, {})).to.equal(null);
    expect(operatorsBucket({ type: 'r2', config: own }, { accessKeyId: 'id' })).to.equal('events');
  });
});
