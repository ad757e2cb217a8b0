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
  PutBucketLifecycleConfigurationCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
} from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { explain } from '../explain.ts';
import { call } from './call.ts';

interface UploadForm {
  url: string;
  fields: Record<string, string>;
}

/** Results and bundles are useful for days, and people forget to delete them. */
const OBJECT_DAYS_MAX = 7;

/** A result with one histogram for each second has a few hundred KB. */
const UPLOAD_BYTES_MAX = 64 * 2 ** 20;

/** The buckets of one region. Every method throws Refused. */
export class Buckets {
  readonly #s3: S3Client;
  readonly #region: string;

  constructor(s3: S3Client, region: string) {
    this.#s3 = s3;
    this.#region = region;
  }

  /** Creates the bucket if it does not exist. Its objects are deleted after a week. */
  async ensure(Bucket: string): Promise<void> {
    const exists = await this.#s3.send(new HeadBucketCommand({ Bucket })).then(
      () => true,
      (error) => {
        if (error.name === 'NotFound' || error.name === 'NoSuchBucket') return false;
        throw explain(error.name === '403' ? { name: 'BucketAlreadyExists' } : error, `bucket ${Bucket}`);
      },
    );
    if (exists) return;
    // us-east-1 is the only region that must not be named.
    const place =
      this.#region === 'us-east-1' ? {} : { CreateBucketConfiguration: { LocationConstraint: this.#region as never } };
    await call(`creating the bucket ${Bucket}`, this.#s3.send(new CreateBucketCommand({ Bucket, ...place })));
    const Rules = [
      { ID: 'sprites', Status: 'Enabled' as const, Filter: { Prefix: '' }, Expiration: { Days: OBJECT_DAYS_MAX } },
    ];
    const request = new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules } });
    await call(`lifecycle of ${Bucket}`, this.#s3.send(request));
  }

  async put(Bucket: string, Key: string, Body: string | Uint8Array): Promise<void> {
    await call(`writing ${Key}`, this.#s3.send(new PutObjectCommand({ Bucket, Key, Body })));
  }

  /** Uploads the file, unless the key exists already. */
  async putFile(Bucket: string, Key: string, file: string): Promise<void> {
    const exists = await this.#s3.send(new HeadObjectCommand({ Bucket, Key })).then(
      () => true,
      () => false,
    );
    if (exists) return;
    await call(`uploading ${Key}`, this.#s3.send(new PutObjectCommand({ Bucket, Key, Body: readFileSync(file) })));
  }

  async get(Bucket: string, Key: string): Promise<string> {
    const { Body } = await call(`reading ${Key}`, this.#s3.send(new GetObjectCommand({ Bucket, Key })));
    return (await Body?.transformToString()) ?? '';
  }

  /** All keys that begin with `Prefix`. */
  async list(Bucket: string, Prefix: string): Promise<string[]> {
    const pages = paginateListObjectsV2({ client: this.#s3 }, { Bucket, Prefix });
    const found = await call(`listing ${Bucket}`, Array.fromAsync(pages));
    return found.flatMap(({ Contents = [] }) => Contents.flatMap(({ Key }) => Key ?? []));
  }

  /** An address at which anyone can read this one object for `seconds`. */
  async readable(Bucket: string, Key: string, seconds: number): Promise<string> {
    const request = new GetObjectCommand({ Bucket, Key });
    return call('signing an address', getSignedUrl(this.#s3, request, { expiresIn: seconds }));
  }

  /** A form with which anyone can write objects under `prefix` for `seconds`, each up to UPLOAD_BYTES_MAX. */
  async writable(Bucket: string, prefix: string, seconds: number): Promise<UploadForm> {
    const Conditions = [
      ['starts-with', '$key', prefix],
      ['content-length-range', 0, UPLOAD_BYTES_MAX],
    ] as never;
    // The SDK requires a key. The instance replaces it with its own key under the prefix.
    const Key = `${prefix}\${filename}`;
    const { url, fields } = await call(
      'signing a form',
      createPresignedPost(this.#s3, { Bucket, Key, Conditions, Expires: seconds }),
    );
    const { key: _, ...rest } = fields;
    return { url, fields: rest };
  }
}
