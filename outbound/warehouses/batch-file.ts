// The file of a batch in the format of its destination, written some rows at a time.
// Rules: WH-32, WH-37.
import { type BatchFile, createFileWriter, type FileRows } from '../../core/warehouse/file.ts';
import type { FieldMappingRule } from '../../core/warehouse/field-mapping.ts';
import { type Compression, type FileFormat, isTextCompression } from '../../core/warehouse/object-key.ts';
import { parquetColumns } from '../../core/warehouse/parquet-columns.ts';
import type { Compute } from '../compute/index.ts';
import { ParquetFile } from '../parquet/file.ts';
import { compressed } from './compress.ts';

export interface OpenFile {
  /** Rows stand in the order in which they are added. @throws FileTooLargeError; of Parquet ComputeBusyError too */
  add(some: FileRows): Promise<void>;
  /** The file as it is stored. @throws as `add` */
  finish(): Promise<BatchFile>;
}

interface BatchFileForm {
  fileFormat: FileFormat;
  compression: Compression;
  fieldMapping: FieldMappingRule[] | null;
}

export function openFile(
  organizationId: string,
  { fileFormat, compression, fieldMapping }: BatchFileForm,
  compute: Pick<Compute, 'rowGroup'>,
): OpenFile {
  if (fileFormat === 'parquet') {
    return new ParquetFile(organizationId, { columns: parquetColumns(fieldMapping), compression }, compute);
  }
  if (!isTextCompression(compression)) throw new Error(`${compression} is for parquet only`);
  const writer = createFileWriter(fileFormat);
  return {
    async add(some) {
      writer.add(some);
    },
    finish: () => compressed(writer.finish(), compression),
  };
}
