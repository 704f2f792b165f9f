#pragma once

#include <vips/vips.h>

// The functions of libvips that pictures need. `kith_vips_start` comes first.

// The file of the library. In C, whose texts are in a program as they are: `make release` finds it there. Swift keeps a
// short one in instructions.
const char *kith_vips_file(void);

// Loads the library and starts it, with only the decoders that have a function below, one thread for each image, and
// no cache. Returns why it cannot be used, else NULL; it may then be called again. Nothing else may be called before it
// has returned NULL, and it by one thread at a time.
const char *kith_vips_start(const char *file, const char *program);

gint64 kith_vips_microseconds(void);

void kith_vips_free(void *bytes);

void kith_vips_release(void *object);

void kith_vips_clear_errors(void);

VipsSource *kith_vips_source(const void *bytes, size_t count);

// Opened from the header alone; a file that ends too early fails when its pixels are read. `shrink` is 1, 2, 4 or 8.
VipsImage *kith_vips_jpeg(VipsSource *source, int shrink);

VipsImage *kith_vips_png(VipsSource *source);

// The first frame of an animation.
VipsImage *kith_vips_webp(VipsSource *source);

VipsImage *kith_vips_heic(VipsSource *source);

// A copy of pixels of three bytes each.
VipsImage *kith_vips_bitmap(const void *bytes, size_t count, int width, int height);

int kith_vips_width(VipsImage *image);

int kith_vips_height(VipsImage *image);

int kith_vips_has_alpha(VipsImage *image);

// How the pictures of a HEIF file are compressed, or NULL. The text is the image's.
const char *kith_vips_heif_compression(VipsImage *image);

// Its pixels, computed.
VipsImage *kith_vips_computed(VipsImage *image);

// No larger than `side` either way, never enlarged, not yet turned, its colours moved into sRGB from what its profile
// says. Without one it must not be asked to: it would go by way of another space, and come back with other colours.
VipsImage *kith_vips_reduced(VipsImage *picture, int side);

// What can be seen through lies on white.
VipsImage *kith_vips_flattened(VipsImage *seen);

VipsImage *kith_vips_in_srgb(VipsImage *image);

VipsImage *kith_vips_turned(VipsImage *image);

// `*bytes` is the caller's to `kith_vips_free`.
int kith_vips_jpeg_bytes(VipsImage *image, int quality, void **bytes, size_t *count);

// Gives up on computing `image` once the monotonic clock has passed `end`, in microseconds.
void kith_vips_ends(VipsImage *image, gint64 *end);
