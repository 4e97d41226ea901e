/* SPDX-License-Identifier: BSD-3-Clause
 *
 * File systems that are not local.
 */
#ifndef PC_NETWORKS_H
#define PC_NETWORKS_H

#include <stddef.h>
#include <stdint.h>

/* The name of a file system, by the type of statfs(2), whose server may refuse a page, a mapping or
 * a lease; NULL: it is local. AS-safe, MT-safe. */
static inline const char *pc_network_name(uint32_t type)
{
    static const struct {
        uint32_t type;
        const char *name;
    } networks[] = {
        {0x00006969u, "NFS"},    {0xff534d42u, "CIFS"},     {0xfe534d42u, "SMB"},
        {0x0bd00bd0u, "Lustre"}, {0x47504653u, "GPFS"},     {0x19830326u, "BeeGFS"},
        {0x00c36400u, "Ceph"},   {0x01021997u, "9p"},       {0x65735546u, "FUSE"},
        {0x5346414fu, "AFS"},    {0x20030528u, "OrangeFS"}, {0x01161970u, "GFS2"},
        {0x7461636fu, "OCFS2"},  {0x00009fa0u, "proc"},     {0x62656572u, "sysfs"},
    };
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++)
        if (networks[i].type == type)
            return networks[i].name;
    return NULL;
}

#endif
