// What a report is of, as far as its tool names it: the image, directory or repository. It is part of the scope of an
// import. What changes from run to run (tags, digests, dates, numbers of builds, temporary directories) is left out,
// or each run would have a scope of its own, in which nothing is ever missed.

import { checkoutOf } from '../roots/paths.js';

const partMax = 120;
const runOfItsOwn = /^(?:[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{12,64}|\d{1,20}|\d{4}-?\d\d-?\d\d.*|(?:tmp|temp)[\w.-]*)$/i;

/** Without what is of one run; at most 120 characters. */
const part = (text: string): string =>
  text
    .split('/')
    .filter((one) => one !== '' && !runOfItsOwn.test(one))
    .join('/')
    .slice(0, partMax);

/** `registry:5000/shop/web:1.2@sha256:…` without its tag and digest. */
export function imageOf(name: string): string {
  const repository = name
    .trim()
    .replace(/^(?:docker|registry|podman|containerd|docker-archive|oci-archive|oci-dir|singularity):(?!\d)/, '')
    .replace(/@sha\d+:[0-9a-f]+$/i, '')
    .replace(/:[\w][\w.-]{0,127}$/, '')
    .replace(/^(?:index\.)?docker\.io\/(?:library\/)?/, '');
  return /^(?:sha256|[0-9a-f]{12,64})$/i.test(repository) ? '' : part(repository);
}

/** A relative directory as it stands; of an absolute one its name, as checkouts lie anywhere. */
export function directoryOf(name: string): string {
  const path = name
    .trim()
    .replace(/\\/g, '/')
    .replace(/^(?:dir|file):/, '');
  if (/^(?:\/(?:private\/)?(?:tmp|var\/(?:folders|tmp))\/|[a-z]:\/.*\/temp\/)/i.test(path)) return '';
  const isAbsolute = /^(?:\/|[a-z]:\/|~)/i.test(path);
  const names = path.split('/').filter((one) => one !== '' && one !== '.');
  return part((isAbsolute ? names.slice(-1) : names).join('/'));
}

/** What a report of a directory says of it. */
export interface DirectoryFacts {
  subject: string;
  formerSubject: string;
  isDirectory: true;
}

/**
 * A directory below the working one of a CI service or of an image is what its path from there is: `services/a` of
 * `/github/workspace/services/a`, and the working directory itself is `.`. Any other absolute one is a part by itself:
 * of `/home/al/shop` nothing tells whether it is the repository or a directory of it.
 */
export function factsOfDirectory(name: string): DirectoryFacts {
  const path = name
    .trim()
    .replace(/\\/g, '/')
    .replace(/^(?:dir|file):/, '')
    .replace(/\/+$/, '');
  const whole = directoryOf(name);
  const root = path === '' ? undefined : checkoutOf([`${path}/x`])?.root;
  const isWithin = root !== undefined && (path === root || (path.startsWith(`${root}/`) && !isOpen(path)));
  const own = isWithin ? part(path.slice((root ?? '').length)) : whole;
  return { subject: own, formerSubject: own === whole ? '' : whole, isDirectory: true };
}

/** Whether the checkout is a guess by the first directories of the path. */
const isOpen = (path: string): boolean => checkoutOf([`${path}/x`])?.isOpen !== false;

/** `host/owner/name`, whatever way leads there. */
export const repositoryOf = (uri: string): string =>
  part(
    uri
      .trim()
      .replace(/^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[^/@\s]*@)?/i, '')
      .replace(/^([^/:]+):(?!\d+\/)/, '$1/')
      .replace(/[?#].*$/, '')
      .replace(/\/*(?:\.git)?\/*$/i, '')
      .toLowerCase(),
  );

/** An id of SARIF without its last part, which is of the run (2.1.0, 3.17.2). */
export const automationOf = (id: string): string => part(id.slice(0, Math.max(0, id.lastIndexOf('/'))));

/** A host by its name; of a container it is a new one each time. */
export const machineOf = (name: string): string => part(name.trim().toLowerCase());

/** Several as one, in one order. */
export const subjectOf = (parts: readonly string[]): string => {
  const all = [...new Set(parts.filter((one) => one !== ''))].sort();
  return all.join(' ').slice(0, 400);
};
