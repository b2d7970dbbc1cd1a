import { join } from 'node:path';
import { expect } from 'chai';
import { dataFolder, isPackage, userDataFolder } from '../../core/config/data-folder.ts';

describe('the data folder', () => {
  it('of a checkout is beside its code', () => {
    expect(isPackage).to.equal(false);
    expect(dataFolder('/srv/hookyard', undefined)).to.equal('/srv/hookyard/data');
    expect(dataFolder('/srv/hookyard', 'other')).to.equal('/srv/hookyard/other');
    expect(dataFolder('/srv/hookyard', '/var/lib/hookyard')).to.equal('/var/lib/hookyard');
  });

  it('of an installed package is where the system keeps data of its users', () => {
    const found = (platform: NodeJS.Platform, env = {}) => userDataFolder(platform, env, '/home/ann');
    expect(found('linux')).to.equal('/home/ann/.local/share/hookyard');
    expect(found('linux', { XDG_DATA_HOME: '/data' })).to.equal('/data/hookyard');
    expect(found('darwin', { XDG_DATA_HOME: '/data' })).to.equal('/home/ann/Library/Application Support/Hookyard');
    expect(found('win32', { LOCALAPPDATA: '/local' })).to.equal(join('/local', 'Hookyard'));
  });
});
