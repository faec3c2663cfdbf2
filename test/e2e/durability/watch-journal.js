// Loaded before everything else by a gateway (`node --import`): notes in WATCH_FOLDER what of its ledger
// journal the disk has, so that a test can take away the rest, and keeps each file that it removes.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';

const { openSync, fdatasync, fsync, rmSync, fstatSync, appendFileSync, copyFileSync, readdirSync } =
  fs;
const notes = process.env.WATCH_FOLDER;
const opened = new Map();

const isSegment = (file) => String(file).endsWith('.wal');
const note = (line) => appendFileSync(path.join(notes, 'synced'), `${JSON.stringify(line)}\n`);

fs.openSync = (file, ...rest) => {
  const descriptor = openSync(file, ...rest);
  opened.set(descriptor, String(file));
  return descriptor;
};
fs.fdatasync = (descriptor, done) => {
  const file = opened.get(descriptor);
  const { size } = fstatSync(descriptor);
  fdatasync(descriptor, (error) => {
    if (!error && isSegment(file)) note({ file: path.basename(file), size });
    done(error);
  });
};
fs.fsync = (descriptor, done) => {
  const folder = opened.get(descriptor);
  const names = fstatSync(descriptor).isDirectory() ? readdirSync(folder).filter(isSegment) : [];
  fsync(descriptor, (error) => {
    if (!error) for (const file of names) note({ file, isListed: true });
    done(error);
  });
};
fs.rmSync = (file, options) => {
  if (isSegment(file)) copyFileSync(file, path.join(notes, path.basename(file)));
  rmSync(file, options);
};
syncBuiltinESMExports();
