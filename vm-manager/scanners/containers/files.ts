// Which files of an image matter, by their paths alone.
import { isGoSum, readerOf } from '../sca/files.js';
import { secretsScanner } from '../secrets/scanner.js';
import { databaseOf, isRelease } from './packages/places.js';

export const isNodePackage = (path: string): boolean =>
  /(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/.test(path);
export const isPythonPackage = (path: string): boolean =>
  /\.dist-info\/METADATA$|\.egg-info(?:\/PKG-INFO)?$/.test(path);
export const isLockFile = (path: string): boolean =>
  !path.includes('node_modules/') && !isGoSum(path) && readerOf(path) !== null;

/** What a distribution ships: a hundred thousand files, which hold no secrets of the operator. */
const ofUsr = /^usr\/(?:share|lib|lib64|libexec|include|bin|sbin)\//;
const ofRoot = /^(?:lib|lib64|bin|sbin|boot|proc|sys|dev|run)\//;
const ofVar = /^var\/(?:lib\/(?:dpkg|apk|rpm|apt|pam|systemd)|cache)\//;
const ofPackages = /(?:^|\/)(?:node_modules|site-packages|dist-packages|vendor\/bundle|\.git)\//;

/** Whether secrets are looked for in it. */
export const mayHoldSecrets = (path: string): boolean =>
  ![ofUsr, ofRoot, ofVar, ofPackages].some((of) => of.test(path)) && secretsScanner.wants(path) === true;

export const matters = (path: string): boolean =>
  databaseOf(path) !== null ||
  isRelease(path) ||
  isNodePackage(path) ||
  isPythonPackage(path) ||
  isLockFile(path) ||
  mayHoldSecrets(path);
