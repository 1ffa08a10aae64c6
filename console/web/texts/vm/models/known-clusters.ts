// English texts of clusters by name, and of what the rights in them lead to.
import type { Shown } from '../../shown.js';

export const knownClustersText = {
  clusters: 'Clusters',
  newCluster: 'Add a cluster',
  cluster: 'Cluster',
  noClusters: 'No cluster',
  noClustersAbout: 'Name one, and scan a dump of it (kubectl get -o yaml) with its number as cluster_id.',
  name: 'Name',
  nameHelp: 'As events of it call it: letters, digits, hyphens and dots.',
  about: 'About it',
  map: 'Its workloads',
  mapHelp:
    'One a line: namespace, workload and the number of the application, with spaces between; * stands for any text.',
  mapWrong: 'A line has other than three words.',
  number: 'Number',
  found: 'Found by scans',
  scanned: 'Last scan',
  never: 'never',
  madeBy: 'Made by',
  deleteCluster: 'Delete the cluster?',
  deleteClusterAbout: 'What scans have found of it goes, too. Findings stay.',
  paths: 'Rights that lead too far',
  pathsAbout:
    'Users, groups and service accounts that reach what administrators alone should: the shortest way, right by right.',
  noPaths: 'No such way was found',
  noPathsAbout: 'Nothing is said of clusters whose roles and bindings were not scanned.',
  subject: 'Who',
  goal: 'Reaches',
  hops: 'Rights on the way',
  runs: 'Runs',
  way: 'How',
  member: 'is a member',
  kinds: { user: 'user', group: 'group', account: 'service account' },
  system: 'Also those of the cluster itself',
  unknownRoles: (a: Shown, b: Shown) => `${a}: bindings whose role was not scanned: ${b}`,
  partial: (a: Shown) => `${a}: there is more than is kept or looked at.`,
} as const;
