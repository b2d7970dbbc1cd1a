import { expect } from 'chai';
import { warehouseConfigSchemas } from '../../core/warehouse/config.ts';
import {
  operatorsBucket,
  parseGrant,
  isGranted,
  isPrefixGranted,
  operatorAccess,
  usesOperatorsKeys,
} from '../../core/warehouse/operator-access.ts';

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

const environment = { R2_ACCESS_KEY_ID: 'id', R2_SECRET_ACCESS_KEY: 'secret' };
const entries = ['acme:r2:events/hooks/', 'acme:r2:spare', 'other:r2:events', 'acme:s3:lake'];
const { r2, grants } = operatorAccess({ HOOKYARD_WAREHOUSE_IDENTITY: entries }, environment);
const type = 'r2';

describe('the R2 keys of the operator', () => {
  it('are for whole folders, not for what begins like them', () => {
    const may = (organization: string, bucket: string, key: string) =>
      isGranted(grants, { type, organization, bucket, key });
    expect(may('acme', 'events', 'hooks/a.jsonl')).to.equal(true);
    expect(may('acme', 'events', 'hooks-of-others/a.jsonl')).to.equal(false);
    expect(may('acme', 'events', 'a.jsonl')).to.equal(false);
    expect(may('acme', 'spare', 'a.jsonl')).to.equal(true);
    expect(may('acme', 'spare2', 'a.jsonl')).to.equal(false);
    expect(may('acme', 'lake', 'a.jsonl'), 'of another type').to.equal(false);
    expect(may('stranger', 'events', 'hooks/a.jsonl')).to.equal(false);
    const all = (prefix: string | undefined) =>
      isPrefixGranted(grants, { type, organization: 'acme', bucket: 'events', prefix });
    expect([all('hooks'), all('/hooks/eu/'), all('hook'), all(undefined)]).to.deep.equal([true, true, false, false]);
  });

  it('are used by a config that lacks one of its own', () => {
    expect(usesOperatorsKeys({ accessKeyId: 'a', secretAccessKey: 'b' }, r2)).to.equal(false);
    expect(usesOperatorsKeys({ accessKeyId: 'a' }, r2)).to.equal(true);
    expect(usesOperatorsKeys({ secretAccessKey: 'b' }, r2)).to.equal(true);
    expect(usesOperatorsKeys({}, {})).to.equal(false);
  });
});
