/**
 * The bucket: where the bundle, the jobs and the results of fleets are stored.
 *
 * Instances have no credentials. They read and write through addresses and forms that are signed here; signing sends no request.
 */
import { readFileSync } from 'node:fs';
import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutBucketLifecycleConfigurationCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { explain } from '../explain.ts';
import { call } from './call.ts';

/** Every function throws Refused. */
export interface Buckets {
  /** Creates the bucket if it does not exist. Its objects are deleted after a week. */
  ensureBucket(bucket: string): Promise<void>;
  put(bucket: string, key: string, body: string | Uint8Array): Promise<void>;
  /** Uploads the file, unless the key exists already. */
  putFile(bucket: string, key: string, file: string): Promise<void>;
  get(bucket: string, key: string): Promise<string>;
  /** All keys that begin with `prefix`. */
  list(bucket: string, prefix: string): Promise<string[]>;
  /** An address at which anyone can read this one object for `seconds`. */
  readable(bucket: string, key: string, seconds: number): Promise<string>;
  /** A form with which anyone can write objects under `prefix` for `seconds`, each up to UPLOAD_BYTES_MAX. */
  writable(bucket: string, prefix: string, seconds: number): Promise<UploadForm>;
}

export interface UploadForm {
  url: string;
  fields: Record<string, string>;
}

/** Results and bundles are useful for days, and people forget to delete them. */
const OBJECT_DAYS_MAX = 7;

/** A result with one histogram for each second has a few hundred KB. */
const UPLOAD_BYTES_MAX = 64 * 2 ** 20;

export function openBuckets(s3: S3Client, region: string): Buckets {
  return {
    async ensureBucket(Bucket) {
      const exists = await s3.send(new HeadBucketCommand({ Bucket })).then(
        () => true,
        (error) => {
          if (error.name === 'NotFound' || error.name === 'NoSuchBucket') return false;
          throw explain(error.name === '403' ? { name: 'BucketAlreadyExists' } : error, `bucket ${Bucket}`);
        },
      );
      if (exists) return;
      // us-east-1 is the only region that must not be named.
      const place =
        region === 'us-east-1' ? {} : { CreateBucketConfiguration: { LocationConstraint: region as never } };
      await call(`creating the bucket ${Bucket}`, s3.send(new CreateBucketCommand({ Bucket, ...place })));
      const Rules = [
        { ID: 'sprites', Status: 'Enabled' as const, Filter: { Prefix: '' }, Expiration: { Days: OBJECT_DAYS_MAX } },
      ];
      const request = new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules } });
      await call(`lifecycle of ${Bucket}`, s3.send(request));
    },

    async put(Bucket, Key, body) {
      await call(`writing ${Key}`, s3.send(new PutObjectCommand({ Bucket, Key, Body: body })));
    },

    async putFile(Bucket, Key, file) {
      const exists = await s3.send(new HeadObjectCommand({ Bucket, Key })).then(
        () => true,
        () => false,
      );
      if (exists) return;
      await call(`uploading ${Key}`, s3.send(new PutObjectCommand({ Bucket, Key, Body: readFileSync(file) })));
    },

    async get(Bucket, Key) {
      const { Body } = await call(`reading ${Key}`, s3.send(new GetObjectCommand({ Bucket, Key })));
      return (await Body?.transformToString()) ?? '';
    },

    async list(Bucket, Prefix) {
      const found: string[] = [];
      let ContinuationToken: string | undefined;
      do {
        const request = new ListObjectsV2Command({ Bucket, Prefix, ContinuationToken });
        const page = await call(`listing ${Bucket}`, s3.send(request));
        found.push(...(page.Contents ?? []).flatMap(({ Key }) => Key ?? []));
        ContinuationToken = page.NextContinuationToken;
      } while (ContinuationToken);
      return found;
    },

    async readable(Bucket, Key, seconds) {
      const request = new GetObjectCommand({ Bucket, Key });
      return call('signing an address', getSignedUrl(s3, request, { expiresIn: seconds }));
    },

    async writable(Bucket, prefix, seconds) {
      const Conditions = [
        ['starts-with', '$key', prefix],
        ['content-length-range', 0, UPLOAD_BYTES_MAX],
      ] as never;
      // The SDK requires a key. The instance replaces it with its own key under the prefix.
      const Key = `${prefix}\${filename}`;
      const { url, fields } = await call(
        'signing a form',
        createPresignedPost(s3, { Bucket, Key, Conditions, Expires: seconds }),
      );
      const { key: _, ...rest } = fields;
      return { url, fields: rest };
    },
  };
}
