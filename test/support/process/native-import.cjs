// Loads a module as Node.js does, past the modules of the test runner.
exports.load = (address) => import(address);
