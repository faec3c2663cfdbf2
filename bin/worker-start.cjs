'use strict';
// Loaded in front of the command in every worker: Node.js greets the first process before any module
// can listen for what goes wrong then, and an error that nobody hears ends in a stack trace.
const cluster = require('node:cluster');

function end() {
  process.stderr.on('error', () => {});
  process.stderr.write('gateway: the first process ended before this worker could start\n');
  process.exit(1);
}

cluster.worker?.once('error', end).once('disconnect', end);
