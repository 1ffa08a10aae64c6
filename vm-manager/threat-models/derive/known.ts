// What is known of an application by itself: packages that mean a store, a partner or a habit, and weaknesses that do.
import type { Element, Trait } from '../model.js';

/** A package of a bill of materials → the element that it speaks with. */
export const partners: readonly {
  readonly packages: RegExp;
  readonly element: Pick<Element, 'id' | 'name' | 'kind' | 'technology'>;
}[] = [
  [
    'postgresql',
    'PostgreSQL',
    'store',
    /^(pg|pg-promise|postgres(ql)?|psycopg[23]?(-binary)?|asyncpg|npgsql|lib\/pq|pgx)$/,
  ],
  [
    'mysql',
    'MySQL',
    'store',
    /^(mysql2?|mysqlclient|pymysql|mysql-connector-(java|j|python)|mariadb|mariadb-java-client)$/,
  ],
  ['sql-server', 'SQL Server', 'store', /^(mssql|tedious|mssql-jdbc|pyodbc|microsoft\.data\.sqlclient)$/],
  ['mongodb', 'MongoDB', 'store', /^(mongodb|mongoose|pymongo|motor|mongodb-driver-(sync|core)|mongo-driver)$/],
  ['redis', 'Redis', 'store', /^(redis|ioredis|jedis|lettuce-core|go-redis|predis|stackexchange\.redis)$/],
  ['kafka', 'Kafka', 'store', /^(kafkajs|kafka-clients|kafka-python|confluent-kafka|sarama|node-rdkafka)$/],
  ['rabbitmq', 'RabbitMQ', 'store', /^(amqplib|pika|amqp-client|amqp091-go|rabbitmq\.client|php-amqplib)$/],
  [
    'search',
    'Elasticsearch',
    'store',
    /^(elasticsearch|@elastic\/elasticsearch|opensearch-py|elasticsearch-java|@opensearch-project\/opensearch)$/,
  ],
  [
    'objects',
    'Object storage',
    'store',
    /^(@aws-sdk\/client-s3|boto3|minio|@google-cloud\/storage|azure-storage-blob|s3)$/,
  ],
  ['directory', 'LDAP directory', 'store', /^(ldapjs|ldapts|python-ldap|ldap3|unboundid-ldapsdk|spring-ldap-core)$/],
  ['model', 'Language model', 'external', /^(openai|@anthropic-ai\/sdk|anthropic|langchain|@langchain\/core|cohere)$/],
  ['payments', 'Payment service', 'external', /^(stripe|stripe-java|braintree|@adyen\/api-library|paypal-rest-sdk)$/],
  ['mail', 'Mail server', 'external', /^(nodemailer|@sendgrid\/mail|sendgrid|javax\.mail|jakarta\.mail|mailgun\.js)$/],
].map(([id, name, kind, packages]) => ({
  packages: packages as RegExp,
  element: { id: `auto:${id as string}`, name: name as string, kind: kind as 'store', technology: name as string },
}));

export const habits: readonly (readonly [RegExp, Trait])[] = [
  [/^(xml2js|libxmljs2?|fast-xml-parser|lxml|dom4j|jdom2?|xercesimpl|nokogiri|saxon-he)$/, 'parses_xml'],
  [/^(multer|formidable|busboy|express-fileupload|commons-fileupload2?|python-multipart)$/, 'takes_files'],
  [/^(node-serialize|funcster|xstream|kryo|pyyaml|jsonpickle|snakeyaml)$/, 'deserialises'],
  [/^(handlebars|ejs|pug|nunjucks|jinja2|mako|freemarker|velocity-engine-core|twig)$/, 'templates'],
  [/^(passport|jsonwebtoken|next-auth|spring-security-core|devise|django-allauth|pyjwt|authlib)$/, 'authenticates'],
  [/^(react|vue|@angular\/core|svelte|solid-js|next|nuxt|django|thymeleaf)$/, 'serves_pages'],
  [/^(vm2|isolated-vm|spring-expression|rhino|groovy|asteval)$/, 'runs_code'],
  [/^(shelljs|execa|commons-exec|sh)$/, 'runs_commands'],
  [/^(openai|@anthropic-ai\/sdk|anthropic|langchain|@langchain\/core|transformers)$/, 'model'],
];

/** A weakness that was found says what the application does. */
export const habitOfWeakness: Readonly<Record<number, Trait>> = {
  77: 'runs_commands',
  78: 'runs_commands',
  79: 'serves_pages',
  94: 'runs_code',
  95: 'runs_code',
  434: 'takes_files',
  502: 'deserialises',
  611: 'parses_xml',
  918: 'asks_addresses',
  1336: 'templates',
};
