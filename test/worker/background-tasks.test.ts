import { expect } from 'chai';
import { BackgroundTasks, oneAtATime } from '../../worker/relay/loop.ts';

describe('tasks in the background', () => {
  it('tell the first of their errors, once', async () => {
    const background = new BackgroundTasks();
    background.run(Promise.reject(new Error('first')));
    background.run(Promise.reject(new Error('second')));
    background.run(Promise.resolve());
    await background.idle();
    expect(() => background.throwError()).to.throw('first');
    expect(() => background.throwError()).not.to.throw();
  });

  it('are awaited at the end when another one began them', async () => {
    const background = new BackgroundTasks();
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    background.run(gates[0].promise.then(() => background.run(gates[1].promise)));
    let isIdle = false;
    const idle = background.idle().then(() => {
      isIdle = true;
    });
    gates[0].resolve();
    await new Promise(setImmediate);
    expect(isIdle).to.equal(false);
    gates[1].resolve();
    await idle;
  });

  it('run one at a time where that is asked for, and again afterwards, also after an error', async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let runs = 0;
    const task = oneAtATime(async () => {
      runs += 1;
      await gates[runs - 1]?.promise;
    });
    const first = task();
    await task();
    expect(runs).to.equal(1);
    gates[0]?.reject(new Error('failed'));
    const error = await first.catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(Error);
    gates[1]?.resolve();
    await task();
    expect(runs).to.equal(2);
  });
});
