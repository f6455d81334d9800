SUMMARY = "A quantizing ahead-of-time compiler for Arm machine-learning targets"
DESCRIPTION = "The static command of a release: on a board it runs compiled programs, on an Ethos-U by the kernel's own driver."
SECTION = "devel"
LICENSE = "Apache-2.0"
LIC_FILES_CHKSUM = "file://LICENSE;md5=3b83ef96387f14655fc854ddc3c6bd57"

# The release's own files (make release: build/release), beside this recipe or where TOSAC_RELEASE says.
TOSAC_RELEASE ?= "file://"
SRC_URI = "${TOSAC_RELEASE}tosac-${PV}-linux-${TARGET_ARCH}.tar.gz"

S = "${UNPACKDIR}/tosac-${PV}-linux-${TARGET_ARCH}"

do_install() {
    install -D -m 0755 ${S}/tosac ${D}${bindir}/tosac
}

COMPATIBLE_HOST = "(aarch64|x86_64).*-linux"
INSANE_SKIP:${PN} = "already-stripped"
