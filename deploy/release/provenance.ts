// Where a release came from: an in-toto statement (v1) with SLSA provenance (v1). Level 1 is what it claims: it was
// built by this script on somebody's machine, and nothing stronger.
import type { LockedPackage } from './npm-packages.js';

export interface ProvenanceInput {
  readonly version: string;
  readonly commit: string;
  /** Whether the checkout had changes that are in no commit. */
  readonly isDirty: boolean;
  readonly epoch: number;
  readonly subjects: readonly { readonly name: string; readonly sha256: string }[];
  readonly packages: readonly LockedPackage[];
  readonly node: { readonly version: string; readonly sha256: string };
}

export const provenanceType = 'application/vnd.in-toto+json';

export function provenance(input: ProvenanceInput): unknown {
  const { version, commit, isDirty, epoch, subjects, packages, node } = input;
  const time = new Date(epoch * 1000).toISOString();
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: subjects.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'https://gatehouse.invalid/make-release/v1',
        externalParameters: { version, node: node.version },
        internalParameters: { sourceDateEpoch: epoch, uncommittedChanges: isDirty },
        resolvedDependencies: [
          { uri: `git+gatehouse@${commit}`, digest: { gitCommit: commit } },
          { uri: `pkg:generic/node@${node.version}`, digest: { sha256: node.sha256 } },
          ...packages
            .filter(({ integrity }) => integrity?.startsWith('sha512-'))
            .map(({ name, version: one, integrity }) => ({
              uri: `pkg:npm/${name.replace('@', '%40')}@${one}`,
              digest: { sha512: Buffer.from((integrity ?? '').slice('sha512-'.length), 'base64').toString('hex') },
            })),
        ],
      },
      runDetails: {
        builder: { id: 'https://gatehouse.invalid/builders/local' },
        // the time of the commit, not of the clock: the same sources give the same statement
        metadata: { invocationId: `${version}+${commit.slice(0, 12)}`, startedOn: time, finishedOn: time },
      },
    },
  };
}
