// Runs first in each thread that executes workflows, when HOOKYARD_LEAN_SANDBOX is on (worker/lean-sandbox.ts says why).
// CommonJS, because it has to have run before the SDK's own modules take hold of these two functions.
const v8 = require('node:v8');
const vm = require('node:vm');
const { isMainThread } = require('node:worker_threads');

if (!isMainThread) {
  const { runInContext } = vm.Script.prototype;
  vm.Script.prototype.runInContext = function (context, options) {
    return runInContext.call(this, context, options && { ...options, timeout: undefined });
  };
  v8.promiseHooks.createHook = () => () => {};
}
