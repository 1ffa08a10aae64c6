// AWS: where data lies: buckets, disks, databases, queues, streams.
import { Unknown, textOf, type Value } from '../terraform/values.js';
import { at, fill, mapsAt, snake, valueAt, type Beside, type Properties, type Reading } from './reading.js';

const kebab = (value: Value): Value => (typeof value === 'string' ? snake(value).replaceAll('_', '-') : value);

const bucketOf = (name: string): Unknown => new Unknown(`aws_s3_bucket.${name}.id`);

const besideBucket = (properties: Properties, name: string): readonly Beside[] => {
  const found: Beside[] = [];
  const block = at(properties, 'PublicAccessBlockConfiguration');
  if (block !== undefined)
    found.push({
      type: 'aws_s3_bucket_public_access_block',
      line: block.line,
      fill: (draft) => {
        draft.set('bucket', bucketOf(name), block.line);
        if (block.node.kind !== 'map') draft.isOpen = true;
        else {
          draft.isOpen = block.node.isOpen;
          fill(draft, block.node.fields, { as: '' });
        }
      },
    });
  const versions = at(properties, 'VersioningConfiguration');
  if (versions !== undefined)
    found.push({
      type: 'aws_s3_bucket_versioning',
      line: versions.line,
      fill: (draft) => {
        draft.set('bucket', bucketOf(name), versions.line);
        const status = valueAt(properties, 'VersioningConfiguration.Status');
        const isUnknown = versions.node.kind === 'value' && versions.node.value instanceof Unknown;
        draft.set('versioning_configuration.status', isUnknown ? new Unknown(null) : (status ?? ''), versions.line);
      },
    });
  return found;
};

const bucketReading: Reading = {
  as: 'aws_s3_bucket',
  names: {
    AccessControl: 'acl',
    BucketName: 'bucket',
    LoggingConfiguration: 'logging',
    'LoggingConfiguration.DestinationBucketName': 'target_bucket',
    VersioningConfiguration: 'versions_of_template',
    PublicAccessBlockConfiguration: 'access_of_template',
    'BucketEncryption.ServerSideEncryptionConfiguration': 'rule',
    'BucketEncryption.ServerSideEncryptionConfiguration.ServerSideEncryptionByDefault':
      'apply_server_side_encryption_by_default',
    BucketEncryption: 'server_side_encryption_configuration',
  },
  values: { AccessControl: kebab },
  beside: besideBucket,
};

const logPublishing: NonNullable<Reading['more']> = (draft, properties) => {
  const field = at(properties, 'LogPublishingOptions');
  if (field?.node.kind === 'map')
    for (const [type, { line, node }] of field.node.fields) {
      const one = draft.add('log_publishing_options', line);
      one.set('log_type', type, line);
      const isOn = node.kind === 'map' ? valueAt(node.fields, 'Enabled') : new Unknown(null);
      // without the switch nothing is published
      one.set('enabled', isOn ?? false, line);
    }
  else if (field !== undefined) draft.add('log_publishing_options', field.line).isOpen = true;
};
const searchReading: Reading = {
  as: 'aws_opensearch_domain',
  names: {
    EncryptionAtRestOptions: 'encrypt_at_rest',
    NodeToNodeEncryptionOptions: 'node_to_node_encryption',
    LogPublishingOptions: 'logs_of_template',
    'DomainEndpointOptions.EnforceHTTPS': 'enforce_https',
    'DomainEndpointOptions.TLSSecurityPolicy': 'tls_security_policy',
  },
  more: logPublishing,
};

const clusterNames = {
  EnableCloudwatchLogsExports: 'enabled_cloudwatch_logs_exports',
  KmsKeyId: 'kms_key_id',
};

const insights = {
  EnablePerformanceInsights: 'performance_insights_enabled',
  PerformanceInsightsEnabled: 'performance_insights_enabled',
  PerformanceInsightsKMSKeyId: 'performance_insights_kms_key_id',
  PerformanceInsightsKmsKeyId: 'performance_insights_kms_key_id',
};

/** What another database is made from has its encryption and keeps its backups. */
const copies = ['SourceDBInstanceIdentifier', 'SourceDBClusterIdentifier', 'ReplicationSourceIdentifier'];

const isCopy: NonNullable<Reading['more']> = (draft, properties) => {
  const field = copies.map((name) => at(properties, name)).find((one) => one !== undefined);
  if (field !== undefined) draft.set('replicate_source_db', new Unknown(null), field.line);
};

export const dataReadings: Readonly<Record<string, Reading>> = {
  'AWS::S3::Bucket': bucketReading,
  'AWS::S3::BucketPolicy': { as: 'aws_s3_bucket_policy', raw: ['PolicyDocument'], names: { PolicyDocument: 'policy' } },
  'AWS::EC2::Volume': { as: 'aws_ebs_volume' },
  'AWS::EFS::FileSystem': { as: 'aws_efs_file_system' },
  'AWS::WorkSpaces::Workspace': { as: 'aws_workspaces_workspace' },
  'AWS::RDS::DBCluster': { as: 'aws_rds_cluster', names: insights, more: isCopy },
  'AWS::RDS::DBInstance': {
    // what belongs to a cluster is encrypted, backed up and protected by it
    as: (properties) => (properties.has('DBClusterIdentifier') ? 'aws_rds_cluster_instance' : 'aws_db_instance'),
    names: insights,
    more: isCopy,
  },
  'AWS::DMS::ReplicationInstance': { as: 'aws_dms_replication_instance' },
  'AWS::DocDB::DBCluster': { as: 'aws_docdb_cluster', names: clusterNames },
  'AWS::Neptune::DBCluster': {
    as: 'aws_neptune_cluster',
    names: { KmsKeyId: 'kms_key_arn', EnableCloudwatchLogsExports: 'enable_cloudwatch_logs_exports' },
  },
  'AWS::DAX::Cluster': {
    as: 'aws_dax_cluster',
    names: { SSESpecification: 'server_side_encryption', 'SSESpecification.SSEEnabled': 'enabled' },
  },
  'AWS::DynamoDB::Table': {
    as: 'aws_dynamodb_table',
    names: {
      SSESpecification: 'server_side_encryption',
      'SSESpecification.SSEEnabled': 'enabled',
      'SSESpecification.KMSMasterKeyId': 'kms_key_arn',
      PointInTimeRecoverySpecification: 'point_in_time_recovery',
      'PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled': 'enabled',
    },
  },
  'AWS::Serverless::SimpleTable': {
    as: 'sam_simple_table',
    names: { SSESpecification: 'server_side_encryption', 'SSESpecification.SSEEnabled': 'enabled' },
  },
  'AWS::Redshift::Cluster': { as: 'aws_redshift_cluster' },
  'AWS::Redshift::ClusterSecurityGroup': { as: 'aws_redshift_security_group' },
  'AWS::ElastiCache::SecurityGroup': { as: 'aws_elasticache_security_group' },
  'AWS::ElastiCache::CacheCluster': { as: 'aws_elasticache_cluster', names: { CacheNodeType: 'node_type' } },
  'AWS::ElastiCache::ReplicationGroup': { as: 'aws_elasticache_replication_group' },
  'AWS::SNS::Topic': { as: 'aws_sns_topic' },
  'AWS::SNS::TopicPolicy': { as: 'aws_sns_topic_policy', raw: ['PolicyDocument'], names: { PolicyDocument: 'policy' } },
  'AWS::SQS::Queue': { as: 'aws_sqs_queue' },
  'AWS::SQS::QueuePolicy': { as: 'aws_sqs_queue_policy', raw: ['PolicyDocument'], names: { PolicyDocument: 'policy' } },
  'AWS::Kinesis::Stream': {
    as: 'aws_kinesis_stream',
    names: { StreamEncryption: '', 'StreamEncryption.KeyId': 'kms_key_id' },
  },
  'AWS::MSK::Cluster': {
    as: 'aws_msk_cluster',
    names: {
      'EncryptionInfo.EncryptionAtRest': '',
      'EncryptionInfo.EncryptionAtRest.DataVolumeKMSKeyId': 'encryption_at_rest_kms_key_arn',
      'LoggingInfo.BrokerLogs.CloudWatchLogs': 'cloudwatch_logs',
    },
  },
  'AWS::AmazonMQ::Broker': { as: 'aws_mq_broker' },
  'AWS::Athena::WorkGroup': {
    as: 'aws_athena_workgroup',
    names: {
      WorkGroupConfiguration: 'configuration',
      'WorkGroupConfiguration.EnforceWorkGroupConfiguration': 'enforce_workgroup_configuration',
    },
  },
  'AWS::SecretsManager::Secret': { as: 'aws_secretsmanager_secret' },
  'AWS::Elasticsearch::Domain': searchReading,
  'AWS::OpenSearchService::Domain': searchReading,
  'AWS::EMR::SecurityConfiguration': {
    as: 'aws_emr_security_configuration',
    raw: ['SecurityConfiguration'],
    names: { SecurityConfiguration: 'configuration' },
  },
  'AWS::KMS::Key': {
    as: 'aws_kms_key',
    raw: ['KeyPolicy'],
    names: { KeyPolicy: 'policy', KeySpec: 'customer_master_key_spec' },
  },
};

/** Attributes of a load balancer are a list of names and texts. */
export const attributesOf = (
  properties: Properties,
  path: string,
): ReadonlyMap<string, { value: Value; line: number }> =>
  new Map(
    mapsAt(properties, path).map(({ fields, line }) => [
      textOf(valueAt(fields, 'Key')),
      { value: valueAt(fields, 'Value') ?? '', line: at(fields, 'Value')?.line ?? line },
    ]),
  );
