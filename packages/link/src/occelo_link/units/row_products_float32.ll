; Made by llvm_from_c.py from sources with the digest 20aa477422bbd6b57ca71556c3b5a146
; with ziglang 0.17.1

define void @sgemv_int64(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10) nounwind {
  %12 = load i8, ptr %0, align 1
  %13 = icmp eq i8 %12, 84
  %14 = zext i1 %13 to i32
  %15 = load i64, ptr %1, align 8
  %16 = load i64, ptr %2, align 8
  %17 = load i64, ptr %5, align 8
  tail call fastcc void @sproduct(i32 %14, i64 %15, i64 %16, ptr %4, i64 %17, ptr %6, ptr %9)
  ret void
}

define internal fastcc void @sproduct(i32 %0, i64 %1, i64 %2, ptr %3, i64 %4, ptr %5, ptr %6) nounwind {
  %8 = and i64 %4, 15
  %9 = icmp eq i64 %8, 0
  %10 = ptrtoint ptr %3 to i64
  %11 = lshr i64 %10, 2
  %12 = and i64 %11, 15
  %13 = select i1 %9, i64 %12, i64 0
  %14 = icmp eq i32 %0, 0
  %15 = add i64 %13, %1
  %16 = sub nsw i64 0, %13
  %17 = getelementptr inbounds float, ptr %3, i64 %16
  br i1 %14, label %241, label %18

18:
  %19 = getelementptr inbounds float, ptr %5, i64 %16
  %20 = icmp sgt i64 %2, 0
  br i1 %20, label %21, label %530

21:
  %22 = add nsw i64 %2, -1
  %23 = icmp sgt i64 %15, 0
  br label %24

24:
  %25 = phi i64 [ 0, %21 ], [ %239, %238 ]
  %26 = tail call i64 @llvm.smin.i64(i64 %25, i64 %22)
  %27 = mul i64 %26, %4
  %28 = getelementptr inbounds float, ptr %17, i64 %27
  %29 = or disjoint i64 %25, 1
  %30 = tail call i64 @llvm.smin.i64(i64 %29, i64 %22)
  %31 = mul i64 %30, %4
  %32 = getelementptr inbounds float, ptr %17, i64 %31
  %33 = or disjoint i64 %25, 2
  %34 = tail call i64 @llvm.smin.i64(i64 %33, i64 %22)
  %35 = mul i64 %34, %4
  %36 = getelementptr inbounds float, ptr %17, i64 %35
  %37 = or disjoint i64 %25, 3
  %38 = tail call i64 @llvm.smin.i64(i64 %37, i64 %22)
  %39 = mul i64 %38, %4
  %40 = getelementptr inbounds float, ptr %17, i64 %39
  %41 = or disjoint i64 %25, 4
  %42 = tail call i64 @llvm.smin.i64(i64 %41, i64 %22)
  %43 = mul i64 %42, %4
  %44 = getelementptr inbounds float, ptr %17, i64 %43
  %45 = or disjoint i64 %25, 5
  %46 = tail call i64 @llvm.smin.i64(i64 %45, i64 %22)
  %47 = mul i64 %46, %4
  %48 = getelementptr inbounds float, ptr %17, i64 %47
  %49 = or disjoint i64 %25, 6
  %50 = tail call i64 @llvm.smin.i64(i64 %49, i64 %22)
  %51 = mul i64 %50, %4
  %52 = getelementptr inbounds float, ptr %17, i64 %51
  %53 = or disjoint i64 %25, 7
  %54 = tail call i64 @llvm.smin.i64(i64 %53, i64 %22)
  %55 = mul i64 %54, %4
  %56 = getelementptr inbounds float, ptr %17, i64 %55
  br i1 %23, label %57, label %148

57:
  %58 = phi <16 x float> [ %139, %138 ], [ zeroinitializer, %24 ]
  %59 = phi <16 x float> [ %140, %138 ], [ zeroinitializer, %24 ]
  %60 = phi <16 x float> [ %141, %138 ], [ zeroinitializer, %24 ]
  %61 = phi <16 x float> [ %142, %138 ], [ zeroinitializer, %24 ]
  %62 = phi <16 x float> [ %143, %138 ], [ zeroinitializer, %24 ]
  %63 = phi <16 x float> [ %144, %138 ], [ zeroinitializer, %24 ]
  %64 = phi <16 x float> [ %145, %138 ], [ zeroinitializer, %24 ]
  %65 = phi <16 x float> [ %146, %138 ], [ zeroinitializer, %24 ]
  %66 = phi i64 [ %68, %138 ], [ 0, %24 ]
  %67 = icmp samesign ult i64 %66, %13
  %68 = add nuw nsw i64 %66, 16
  %69 = icmp sgt i64 %68, %15
  %70 = or i1 %67, %69
  br i1 %70, label %98, label %71

71:
  %72 = getelementptr inbounds nuw float, ptr %19, i64 %66
  %73 = load <16 x float>, ptr %72, align 4
  %74 = getelementptr inbounds nuw float, ptr %28, i64 %66
  %75 = load <16 x float>, ptr %74, align 4
  %76 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %75, <16 x float> %73, <16 x float> %65)
  %77 = getelementptr inbounds nuw float, ptr %32, i64 %66
  %78 = load <16 x float>, ptr %77, align 4
  %79 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %78, <16 x float> %73, <16 x float> %64)
  %80 = getelementptr inbounds nuw float, ptr %36, i64 %66
  %81 = load <16 x float>, ptr %80, align 4
  %82 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %81, <16 x float> %73, <16 x float> %63)
  %83 = getelementptr inbounds nuw float, ptr %40, i64 %66
  %84 = load <16 x float>, ptr %83, align 4
  %85 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %84, <16 x float> %73, <16 x float> %62)
  %86 = getelementptr inbounds nuw float, ptr %44, i64 %66
  %87 = load <16 x float>, ptr %86, align 4
  %88 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %87, <16 x float> %73, <16 x float> %61)
  %89 = getelementptr inbounds nuw float, ptr %48, i64 %66
  %90 = load <16 x float>, ptr %89, align 4
  %91 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %90, <16 x float> %73, <16 x float> %60)
  %92 = getelementptr inbounds nuw float, ptr %52, i64 %66
  %93 = load <16 x float>, ptr %92, align 4
  %94 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %93, <16 x float> %73, <16 x float> %59)
  %95 = getelementptr inbounds nuw float, ptr %56, i64 %66
  %96 = load <16 x float>, ptr %95, align 4
  %97 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %96, <16 x float> %73, <16 x float> %58)
  br label %138

98:
  %99 = sub nsw i64 %13, %66
  %100 = sub nsw i64 %15, %66
  %101 = tail call i64 @llvm.smin.i64(i64 %100, i64 16)
  %102 = trunc i64 %101 to i32
  %103 = insertelement <16 x i32> poison, i32 %102, i64 0
  %104 = shufflevector <16 x i32> %103, <16 x i32> poison, <16 x i32> zeroinitializer
  %105 = tail call i64 @llvm.smax.i64(i64 %99, i64 0)
  %106 = trunc i64 %105 to i32
  %107 = insertelement <16 x i32> poison, i32 %106, i64 0
  %108 = shufflevector <16 x i32> %107, <16 x i32> poison, <16 x i32> zeroinitializer
  %109 = icmp slt <16 x i32> %108, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16>
  %110 = icmp sgt <16 x i32> %104, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %111 = and <16 x i1> %109, %110
  %112 = getelementptr inbounds nuw float, ptr %19, i64 %66
  %113 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %112, i32 4, <16 x i1> %111, <16 x float> zeroinitializer)
  %114 = getelementptr inbounds nuw float, ptr %28, i64 %66
  %115 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %114, i32 4, <16 x i1> %111, <16 x float> zeroinitializer)
  %116 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %115, <16 x float> %113, <16 x float> %65)
  %117 = getelementptr inbounds nuw float, ptr %32, i64 %66
  %118 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %117, i32 4, <16 x i1> %111, <16 x float> zeroinitializer)
  %119 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %118, <16 x float> %113, <16 x float> %64)
  %120 = getelementptr inbounds nuw float, ptr %36, i64 %66
  %121 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %120, i32 4, <16 x i1> %111, <16 x float> zeroinitializer)
  %122 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %121, <16 x float> %113, <16 x float> %63)
  %123 = getelementptr inbounds nuw float, ptr %40, i64 %66
  %124 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %123, i32 4, <16 x i1> %111, <16 x float> zeroinitializer)
  %125 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %124, <16 x float> %113, <16 x float> %62)
  %126 = getelementptr inbounds nuw float, ptr %44, i64 %66
  %127 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %126, i32 4, <16 x i1> %111, <16 x float> zeroinitializer)
  %128 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %127, <16 x float> %113, <16 x float> %61)
  %129 = getelementptr inbounds nuw float, ptr %48, i64 %66
  %130 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %129, i32 4, <16 x i1> %111, <16 x float> zeroinitializer)
  %131 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %130, <16 x float> %113, <16 x float> %60)
  %132 = getelementptr inbounds nuw float, ptr %52, i64 %66
  %133 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %132, i32 4, <16 x i1> %111, <16 x float> zeroinitializer)
  %134 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %133, <16 x float> %113, <16 x float> %59)
  %135 = getelementptr inbounds nuw float, ptr %56, i64 %66
  %136 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %135, i32 4, <16 x i1> %111, <16 x float> zeroinitializer)
  %137 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %136, <16 x float> %113, <16 x float> %58)
  br label %138

138:
  %139 = phi <16 x float> [ %137, %98 ], [ %97, %71 ]
  %140 = phi <16 x float> [ %134, %98 ], [ %94, %71 ]
  %141 = phi <16 x float> [ %131, %98 ], [ %91, %71 ]
  %142 = phi <16 x float> [ %128, %98 ], [ %88, %71 ]
  %143 = phi <16 x float> [ %125, %98 ], [ %85, %71 ]
  %144 = phi <16 x float> [ %122, %98 ], [ %82, %71 ]
  %145 = phi <16 x float> [ %119, %98 ], [ %79, %71 ]
  %146 = phi <16 x float> [ %116, %98 ], [ %76, %71 ]
  %147 = icmp slt i64 %68, %15
  br i1 %147, label %57, label %148

148:
  %149 = phi <16 x float> [ zeroinitializer, %24 ], [ %139, %138 ]
  %150 = phi <16 x float> [ zeroinitializer, %24 ], [ %140, %138 ]
  %151 = phi <16 x float> [ zeroinitializer, %24 ], [ %141, %138 ]
  %152 = phi <16 x float> [ zeroinitializer, %24 ], [ %142, %138 ]
  %153 = phi <16 x float> [ zeroinitializer, %24 ], [ %143, %138 ]
  %154 = phi <16 x float> [ zeroinitializer, %24 ], [ %144, %138 ]
  %155 = phi <16 x float> [ zeroinitializer, %24 ], [ %145, %138 ]
  %156 = phi <16 x float> [ zeroinitializer, %24 ], [ %146, %138 ]
  %157 = shufflevector <16 x float> %156, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %158 = shufflevector <16 x float> %156, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %159 = fadd <8 x float> %157, %158
  %160 = shufflevector <16 x float> %155, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %161 = shufflevector <16 x float> %155, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %162 = fadd <8 x float> %160, %161
  %163 = shufflevector <16 x float> %154, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %164 = shufflevector <16 x float> %154, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %165 = fadd <8 x float> %163, %164
  %166 = shufflevector <16 x float> %153, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %167 = shufflevector <16 x float> %153, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %168 = fadd <8 x float> %166, %167
  %169 = shufflevector <16 x float> %152, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %170 = shufflevector <16 x float> %152, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %171 = fadd <8 x float> %169, %170
  %172 = shufflevector <16 x float> %151, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %173 = shufflevector <16 x float> %151, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %174 = fadd <8 x float> %172, %173
  %175 = shufflevector <16 x float> %150, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %176 = shufflevector <16 x float> %150, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %177 = fadd <8 x float> %175, %176
  %178 = shufflevector <16 x float> %149, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %179 = shufflevector <16 x float> %149, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %180 = fadd <8 x float> %178, %179
  %181 = shufflevector <8 x float> %159, <8 x float> %165, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %182 = shufflevector <8 x float> %159, <8 x float> %165, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %183 = fadd <8 x float> %181, %182
  %184 = shufflevector <8 x float> %171, <8 x float> %177, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %185 = shufflevector <8 x float> %171, <8 x float> %177, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %186 = fadd <8 x float> %184, %185
  %187 = shufflevector <8 x float> %162, <8 x float> %168, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %188 = shufflevector <8 x float> %162, <8 x float> %168, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %189 = fadd <8 x float> %187, %188
  %190 = shufflevector <8 x float> %174, <8 x float> %180, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %191 = shufflevector <8 x float> %174, <8 x float> %180, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %192 = fadd <8 x float> %190, %191
  %193 = shufflevector <8 x float> %183, <8 x float> %186, <8 x i32> <i32 0, i32 1, i32 4, i32 5, i32 8, i32 9, i32 12, i32 13>
  %194 = shufflevector <8 x float> %183, <8 x float> %186, <8 x i32> <i32 2, i32 3, i32 6, i32 7, i32 10, i32 11, i32 14, i32 15>
  %195 = fadd <8 x float> %193, %194
  %196 = shufflevector <8 x float> %189, <8 x float> %192, <8 x i32> <i32 0, i32 1, i32 4, i32 5, i32 8, i32 9, i32 12, i32 13>
  %197 = shufflevector <8 x float> %189, <8 x float> %192, <8 x i32> <i32 2, i32 3, i32 6, i32 7, i32 10, i32 11, i32 14, i32 15>
  %198 = fadd <8 x float> %196, %197
  %199 = shufflevector <8 x float> %195, <8 x float> %198, <8 x i32> <i32 0, i32 8, i32 2, i32 10, i32 4, i32 12, i32 6, i32 14>
  %200 = shufflevector <8 x float> %195, <8 x float> %198, <8 x i32> <i32 1, i32 9, i32 3, i32 11, i32 5, i32 13, i32 7, i32 15>
  %201 = fadd <8 x float> %199, %200
  %202 = sub nsw i64 %2, %25
  %203 = icmp sgt i64 %202, 7
  br i1 %203, label %204, label %206

204:
  %205 = getelementptr inbounds nuw float, ptr %6, i64 %25
  store <8 x float> %201, ptr %205, align 4
  br label %238

206:
  %207 = extractelement <8 x float> %201, i64 0
  %208 = getelementptr inbounds nuw float, ptr %6, i64 %25
  store float %207, ptr %208, align 4
  %209 = icmp slt i64 %29, %2
  br i1 %209, label %210, label %213

210:
  %211 = extractelement <8 x float> %201, i64 1
  %212 = getelementptr inbounds nuw float, ptr %6, i64 %29
  store float %211, ptr %212, align 4
  br label %213

213:
  %214 = icmp slt i64 %33, %2
  br i1 %214, label %215, label %218

215:
  %216 = extractelement <8 x float> %201, i64 2
  %217 = getelementptr inbounds nuw float, ptr %6, i64 %33
  store float %216, ptr %217, align 4
  br label %218

218:
  %219 = icmp slt i64 %37, %2
  br i1 %219, label %220, label %223

220:
  %221 = extractelement <8 x float> %201, i64 3
  %222 = getelementptr inbounds nuw float, ptr %6, i64 %37
  store float %221, ptr %222, align 4
  br label %223

223:
  %224 = icmp slt i64 %41, %2
  br i1 %224, label %225, label %228

225:
  %226 = extractelement <8 x float> %201, i64 4
  %227 = getelementptr inbounds nuw float, ptr %6, i64 %41
  store float %226, ptr %227, align 4
  br label %228

228:
  %229 = icmp slt i64 %45, %2
  br i1 %229, label %230, label %233

230:
  %231 = extractelement <8 x float> %201, i64 5
  %232 = getelementptr inbounds nuw float, ptr %6, i64 %45
  store float %231, ptr %232, align 4
  br label %233

233:
  %234 = icmp slt i64 %49, %2
  br i1 %234, label %235, label %238

235:
  %236 = extractelement <8 x float> %201, i64 6
  %237 = getelementptr inbounds nuw float, ptr %6, i64 %49
  store float %236, ptr %237, align 4
  br label %238

238:
  %239 = add nuw nsw i64 %25, 8
  %240 = icmp slt i64 %239, %2
  br i1 %240, label %24, label %530

241:
  %242 = getelementptr inbounds float, ptr %6, i64 %16
  %243 = icmp sgt i64 %15, 32
  br i1 %243, label %244, label %395

244:
  %245 = and i64 %2, 1
  %246 = icmp eq i64 %245, 0
  %247 = icmp sgt i64 %2, 1
  br label %248

248:
  %249 = phi i64 [ %15, %244 ], [ %348, %330 ]
  %250 = phi i64 [ 0, %244 ], [ %347, %330 ]
  %251 = phi i64 [ 0, %244 ], [ %346, %330 ]
  %252 = getelementptr inbounds float, ptr %17, i64 %251
  %253 = add nsw i64 %250, %13
  %254 = tail call i64 @llvm.smax.i64(i64 %253, i64 0)
  %255 = trunc i64 %254 to i32
  %256 = insertelement <16 x i32> poison, i32 %255, i64 0
  %257 = shufflevector <16 x i32> %256, <16 x i32> poison, <16 x i32> zeroinitializer
  %258 = icmp slt <16 x i32> %257, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16>
  br i1 %246, label %259, label %266

259:
  %260 = add i64 %253, -16
  %261 = tail call i64 @llvm.smax.i64(i64 %260, i64 0)
  %262 = trunc i64 %261 to i32
  %263 = insertelement <16 x i32> poison, i32 %262, i64 0
  %264 = shufflevector <16 x i32> %263, <16 x i32> poison, <16 x i32> zeroinitializer
  %265 = icmp slt <16 x i32> %264, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16>
  br label %281

266:
  %267 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %252, i32 4, <16 x i1> %258, <16 x float> zeroinitializer)
  %268 = load float, ptr %5, align 4
  %269 = insertelement <16 x float> poison, float %268, i64 0
  %270 = shufflevector <16 x float> %269, <16 x float> poison, <16 x i32> zeroinitializer
  %271 = fmul <16 x float> %267, %270
  %272 = add i64 %253, -16
  %273 = tail call i64 @llvm.smax.i64(i64 %272, i64 0)
  %274 = trunc i64 %273 to i32
  %275 = insertelement <16 x i32> poison, i32 %274, i64 0
  %276 = shufflevector <16 x i32> %275, <16 x i32> poison, <16 x i32> zeroinitializer
  %277 = icmp slt <16 x i32> %276, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16>
  %278 = getelementptr inbounds nuw i8, ptr %252, i64 64
  %279 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %278, i32 4, <16 x i1> %277, <16 x float> zeroinitializer)
  %280 = fmul <16 x float> %279, %270
  br label %281

281:
  %282 = phi <16 x i1> [ %265, %259 ], [ %277, %266 ]
  %283 = phi <16 x float> [ zeroinitializer, %259 ], [ %271, %266 ]
  %284 = phi <16 x float> [ zeroinitializer, %259 ], [ %280, %266 ]
  %285 = add i64 %253, -32
  %286 = tail call i64 @llvm.umin.i64(i64 %249, i64 48)
  %287 = trunc nuw nsw i64 %286 to i32
  %288 = add nsw i32 %287, -32
  %289 = insertelement <16 x i32> poison, i32 %288, i64 0
  %290 = shufflevector <16 x i32> %289, <16 x i32> poison, <16 x i32> zeroinitializer
  %291 = tail call i64 @llvm.smax.i64(i64 %285, i64 0)
  %292 = trunc i64 %291 to i32
  %293 = insertelement <16 x i32> poison, i32 %292, i64 0
  %294 = shufflevector <16 x i32> %293, <16 x i32> poison, <16 x i32> zeroinitializer
  %295 = icmp slt <16 x i32> %294, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16>
  %296 = icmp sgt <16 x i32> %290, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %297 = and <16 x i1> %296, %295
  br i1 %246, label %305, label %298

298:
  %299 = getelementptr inbounds nuw i8, ptr %252, i64 128
  %300 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %299, i32 4, <16 x i1> %297, <16 x float> zeroinitializer)
  %301 = load float, ptr %5, align 4
  %302 = insertelement <16 x float> poison, float %301, i64 0
  %303 = shufflevector <16 x float> %302, <16 x float> poison, <16 x i32> zeroinitializer
  %304 = fmul <16 x float> %300, %303
  br label %305

305:
  %306 = phi <16 x float> [ zeroinitializer, %281 ], [ %304, %298 ]
  %307 = add i64 %253, -48
  %308 = tail call i64 @llvm.umin.i64(i64 %249, i64 64)
  %309 = trunc nuw nsw i64 %308 to i32
  %310 = add nsw i32 %309, -48
  %311 = insertelement <16 x i32> poison, i32 %310, i64 0
  %312 = shufflevector <16 x i32> %311, <16 x i32> poison, <16 x i32> zeroinitializer
  %313 = tail call i64 @llvm.smax.i64(i64 %307, i64 0)
  %314 = trunc i64 %313 to i32
  %315 = insertelement <16 x i32> poison, i32 %314, i64 0
  %316 = shufflevector <16 x i32> %315, <16 x i32> poison, <16 x i32> zeroinitializer
  %317 = icmp slt <16 x i32> %316, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16>
  %318 = icmp sgt <16 x i32> %312, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %319 = and <16 x i1> %318, %317
  br i1 %246, label %327, label %320

320:
  %321 = getelementptr inbounds nuw i8, ptr %252, i64 192
  %322 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %321, i32 4, <16 x i1> %319, <16 x float> zeroinitializer)
  %323 = load float, ptr %5, align 4
  %324 = insertelement <16 x float> poison, float %323, i64 0
  %325 = shufflevector <16 x float> %324, <16 x float> poison, <16 x i32> zeroinitializer
  %326 = fmul <16 x float> %322, %325
  br label %327

327:
  %328 = phi <16 x float> [ zeroinitializer, %305 ], [ %326, %320 ]
  %329 = getelementptr inbounds float, ptr %242, i64 %251
  br i1 %247, label %350, label %330

330:
  %331 = phi <16 x float> [ %328, %327 ], [ %392, %350 ]
  %332 = phi <16 x float> [ %306, %327 ], [ %386, %350 ]
  %333 = phi <16 x float> [ %284, %327 ], [ %380, %350 ]
  %334 = phi <16 x float> [ %283, %327 ], [ %374, %350 ]
  %335 = phi <16 x float> [ zeroinitializer, %327 ], [ %389, %350 ]
  %336 = phi <16 x float> [ zeroinitializer, %327 ], [ %383, %350 ]
  %337 = phi <16 x float> [ zeroinitializer, %327 ], [ %377, %350 ]
  %338 = phi <16 x float> [ zeroinitializer, %327 ], [ %372, %350 ]
  %339 = fadd <16 x float> %334, %338
  tail call void @llvm.masked.store.v16f32.p0(<16 x float> %339, ptr %329, i32 4, <16 x i1> %258)
  %340 = fadd <16 x float> %333, %337
  %341 = getelementptr inbounds nuw i8, ptr %329, i64 64
  tail call void @llvm.masked.store.v16f32.p0(<16 x float> %340, ptr %341, i32 4, <16 x i1> %282)
  %342 = fadd <16 x float> %332, %336
  %343 = getelementptr inbounds nuw i8, ptr %329, i64 128
  tail call void @llvm.masked.store.v16f32.p0(<16 x float> %342, ptr %343, i32 4, <16 x i1> %297)
  %344 = fadd <16 x float> %331, %335
  %345 = getelementptr inbounds nuw i8, ptr %329, i64 192
  tail call void @llvm.masked.store.v16f32.p0(<16 x float> %344, ptr %345, i32 4, <16 x i1> %319)
  %346 = add nuw i64 %251, 64
  %347 = sub nuw nsw i64 -64, %251
  %348 = sub i64 %15, %346
  %349 = icmp sgt i64 %348, 32
  br i1 %349, label %248, label %395

350:
  %351 = phi <16 x float> [ %392, %350 ], [ %328, %327 ]
  %352 = phi <16 x float> [ %386, %350 ], [ %306, %327 ]
  %353 = phi <16 x float> [ %380, %350 ], [ %284, %327 ]
  %354 = phi <16 x float> [ %374, %350 ], [ %283, %327 ]
  %355 = phi <16 x float> [ %389, %350 ], [ zeroinitializer, %327 ]
  %356 = phi <16 x float> [ %383, %350 ], [ zeroinitializer, %327 ]
  %357 = phi <16 x float> [ %377, %350 ], [ zeroinitializer, %327 ]
  %358 = phi <16 x float> [ %372, %350 ], [ zeroinitializer, %327 ]
  %359 = phi i64 [ %393, %350 ], [ %245, %327 ]
  %360 = mul i64 %359, %4
  %361 = getelementptr inbounds float, ptr %252, i64 %360
  %362 = getelementptr inbounds float, ptr %361, i64 %4
  %363 = getelementptr inbounds nuw float, ptr %5, i64 %359
  %364 = load float, ptr %363, align 4
  %365 = insertelement <16 x float> poison, float %364, i64 0
  %366 = shufflevector <16 x float> %365, <16 x float> poison, <16 x i32> zeroinitializer
  %367 = getelementptr i8, ptr %363, i64 4
  %368 = load float, ptr %367, align 4
  %369 = insertelement <16 x float> poison, float %368, i64 0
  %370 = shufflevector <16 x float> %369, <16 x float> poison, <16 x i32> zeroinitializer
  %371 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %361, i32 4, <16 x i1> %258, <16 x float> zeroinitializer)
  %372 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %371, <16 x float> %366, <16 x float> %358)
  %373 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %362, i32 4, <16 x i1> %258, <16 x float> zeroinitializer)
  %374 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %373, <16 x float> %370, <16 x float> %354)
  %375 = getelementptr inbounds nuw i8, ptr %361, i64 64
  %376 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %375, i32 4, <16 x i1> %282, <16 x float> zeroinitializer)
  %377 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %376, <16 x float> %366, <16 x float> %357)
  %378 = getelementptr inbounds nuw i8, ptr %362, i64 64
  %379 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %378, i32 4, <16 x i1> %282, <16 x float> zeroinitializer)
  %380 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %379, <16 x float> %370, <16 x float> %353)
  %381 = getelementptr inbounds nuw i8, ptr %361, i64 128
  %382 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %381, i32 4, <16 x i1> %297, <16 x float> zeroinitializer)
  %383 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %382, <16 x float> %366, <16 x float> %356)
  %384 = getelementptr inbounds nuw i8, ptr %362, i64 128
  %385 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %384, i32 4, <16 x i1> %297, <16 x float> zeroinitializer)
  %386 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %385, <16 x float> %370, <16 x float> %352)
  %387 = getelementptr inbounds nuw i8, ptr %361, i64 192
  %388 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %387, i32 4, <16 x i1> %319, <16 x float> zeroinitializer)
  %389 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %388, <16 x float> %366, <16 x float> %355)
  %390 = getelementptr inbounds nuw i8, ptr %362, i64 192
  %391 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %390, i32 4, <16 x i1> %319, <16 x float> zeroinitializer)
  %392 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %391, <16 x float> %370, <16 x float> %351)
  %393 = add nuw nsw i64 %359, 2
  %394 = icmp slt i64 %393, %2
  br i1 %394, label %350, label %330

395:
  %396 = phi i64 [ 0, %241 ], [ %346, %330 ]
  %397 = phi i64 [ 0, %241 ], [ %347, %330 ]
  %398 = phi i64 [ %15, %241 ], [ %348, %330 ]
  %399 = icmp sgt i64 %398, 16
  br i1 %399, label %400, label %478

400:
  %401 = getelementptr inbounds float, ptr %17, i64 %396
  %402 = and i64 %2, 1
  %403 = add i64 %397, %13
  %404 = icmp eq i64 %402, 0
  %405 = tail call i64 @llvm.smax.i64(i64 %403, i64 0)
  %406 = trunc i64 %405 to i32
  %407 = insertelement <16 x i32> poison, i32 %406, i64 0
  %408 = shufflevector <16 x i32> %407, <16 x i32> poison, <16 x i32> zeroinitializer
  %409 = icmp slt <16 x i32> %408, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16>
  br i1 %404, label %416, label %410

410:
  %411 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %401, i32 4, <16 x i1> %409, <16 x float> zeroinitializer)
  %412 = load float, ptr %5, align 4
  %413 = insertelement <16 x float> poison, float %412, i64 0
  %414 = shufflevector <16 x float> %413, <16 x float> poison, <16 x i32> zeroinitializer
  %415 = fmul <16 x float> %411, %414
  br label %416

416:
  %417 = phi <16 x float> [ zeroinitializer, %400 ], [ %415, %410 ]
  %418 = add i64 %403, -16
  %419 = trunc nuw nsw i64 %398 to i32
  %420 = add nsw i32 %419, -16
  %421 = insertelement <16 x i32> poison, i32 %420, i64 0
  %422 = shufflevector <16 x i32> %421, <16 x i32> poison, <16 x i32> zeroinitializer
  %423 = tail call i64 @llvm.smax.i64(i64 %418, i64 0)
  %424 = trunc i64 %423 to i32
  %425 = insertelement <16 x i32> poison, i32 %424, i64 0
  %426 = shufflevector <16 x i32> %425, <16 x i32> poison, <16 x i32> zeroinitializer
  %427 = icmp slt <16 x i32> %426, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16>
  %428 = icmp sgt <16 x i32> %422, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %429 = and <16 x i1> %428, %427
  br i1 %404, label %437, label %430

430:
  %431 = getelementptr inbounds nuw i8, ptr %401, i64 64
  %432 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %431, i32 4, <16 x i1> %429, <16 x float> zeroinitializer)
  %433 = load float, ptr %5, align 4
  %434 = insertelement <16 x float> poison, float %433, i64 0
  %435 = shufflevector <16 x float> %434, <16 x float> poison, <16 x i32> zeroinitializer
  %436 = fmul <16 x float> %432, %435
  br label %437

437:
  %438 = phi <16 x float> [ zeroinitializer, %416 ], [ %436, %430 ]
  %439 = getelementptr inbounds float, ptr %242, i64 %396
  %440 = icmp sgt i64 %2, 1
  br i1 %440, label %449, label %441

441:
  %442 = phi <16 x float> [ zeroinitializer, %437 ], [ %467, %449 ]
  %443 = phi <16 x float> [ zeroinitializer, %437 ], [ %472, %449 ]
  %444 = phi <16 x float> [ %417, %437 ], [ %469, %449 ]
  %445 = phi <16 x float> [ %438, %437 ], [ %475, %449 ]
  %446 = fadd <16 x float> %442, %444
  tail call void @llvm.masked.store.v16f32.p0(<16 x float> %446, ptr %439, i32 4, <16 x i1> %409)
  %447 = fadd <16 x float> %443, %445
  %448 = getelementptr inbounds nuw i8, ptr %439, i64 64
  tail call void @llvm.masked.store.v16f32.p0(<16 x float> %447, ptr %448, i32 4, <16 x i1> %429)
  br label %530

449:
  %450 = phi <16 x float> [ %467, %449 ], [ zeroinitializer, %437 ]
  %451 = phi <16 x float> [ %472, %449 ], [ zeroinitializer, %437 ]
  %452 = phi <16 x float> [ %469, %449 ], [ %417, %437 ]
  %453 = phi <16 x float> [ %475, %449 ], [ %438, %437 ]
  %454 = phi i64 [ %476, %449 ], [ %402, %437 ]
  %455 = mul i64 %454, %4
  %456 = getelementptr inbounds float, ptr %401, i64 %455
  %457 = getelementptr inbounds float, ptr %456, i64 %4
  %458 = getelementptr inbounds nuw float, ptr %5, i64 %454
  %459 = load float, ptr %458, align 4
  %460 = insertelement <16 x float> poison, float %459, i64 0
  %461 = shufflevector <16 x float> %460, <16 x float> poison, <16 x i32> zeroinitializer
  %462 = getelementptr i8, ptr %458, i64 4
  %463 = load float, ptr %462, align 4
  %464 = insertelement <16 x float> poison, float %463, i64 0
  %465 = shufflevector <16 x float> %464, <16 x float> poison, <16 x i32> zeroinitializer
  %466 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %456, i32 4, <16 x i1> %409, <16 x float> zeroinitializer)
  %467 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %466, <16 x float> %461, <16 x float> %450)
  %468 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %457, i32 4, <16 x i1> %409, <16 x float> zeroinitializer)
  %469 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %468, <16 x float> %465, <16 x float> %452)
  %470 = getelementptr inbounds nuw i8, ptr %456, i64 64
  %471 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %470, i32 4, <16 x i1> %429, <16 x float> zeroinitializer)
  %472 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %471, <16 x float> %461, <16 x float> %451)
  %473 = getelementptr inbounds nuw i8, ptr %457, i64 64
  %474 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %473, i32 4, <16 x i1> %429, <16 x float> zeroinitializer)
  %475 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %474, <16 x float> %465, <16 x float> %453)
  %476 = add nuw nsw i64 %454, 2
  %477 = icmp slt i64 %476, %2
  br i1 %477, label %449, label %441

478:
  %479 = icmp slt i64 %396, %15
  br i1 %479, label %480, label %530

480:
  %481 = sub i64 %13, %396
  %482 = getelementptr inbounds float, ptr %17, i64 %396
  %483 = getelementptr inbounds float, ptr %242, i64 %396
  %484 = and i64 %2, 1
  %485 = trunc i64 %398 to i32
  %486 = insertelement <16 x i32> poison, i32 %485, i64 0
  %487 = shufflevector <16 x i32> %486, <16 x i32> poison, <16 x i32> zeroinitializer
  %488 = tail call i64 @llvm.smax.i64(i64 %481, i64 0)
  %489 = trunc i64 %488 to i32
  %490 = insertelement <16 x i32> poison, i32 %489, i64 0
  %491 = shufflevector <16 x i32> %490, <16 x i32> poison, <16 x i32> zeroinitializer
  %492 = icmp eq i64 %484, 0
  %493 = icmp slt <16 x i32> %491, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16>
  %494 = icmp sgt <16 x i32> %487, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %495 = and <16 x i1> %493, %494
  br i1 %492, label %502, label %496

496:
  %497 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %482, i32 4, <16 x i1> %495, <16 x float> zeroinitializer)
  %498 = load float, ptr %5, align 4
  %499 = insertelement <16 x float> poison, float %498, i64 0
  %500 = shufflevector <16 x float> %499, <16 x float> poison, <16 x i32> zeroinitializer
  %501 = fmul <16 x float> %497, %500
  br label %502

502:
  %503 = phi <16 x float> [ zeroinitializer, %480 ], [ %501, %496 ]
  %504 = icmp sgt i64 %2, 1
  br i1 %504, label %509, label %505

505:
  %506 = phi <16 x float> [ %503, %502 ], [ %527, %509 ]
  %507 = phi <16 x float> [ zeroinitializer, %502 ], [ %526, %509 ]
  %508 = fadd <16 x float> %506, %507
  tail call void @llvm.masked.store.v16f32.p0(<16 x float> %508, ptr %483, i32 4, <16 x i1> %495)
  br label %530

509:
  %510 = phi i64 [ %528, %509 ], [ %484, %502 ]
  %511 = phi <16 x float> [ %526, %509 ], [ zeroinitializer, %502 ]
  %512 = phi <16 x float> [ %527, %509 ], [ %503, %502 ]
  %513 = mul i64 %510, %4
  %514 = getelementptr inbounds float, ptr %482, i64 %513
  %515 = getelementptr inbounds float, ptr %514, i64 %4
  %516 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %514, i32 4, <16 x i1> %495, <16 x float> zeroinitializer)
  %517 = getelementptr inbounds nuw float, ptr %5, i64 %510
  %518 = load float, ptr %517, align 4
  %519 = insertelement <16 x float> poison, float %518, i64 0
  %520 = shufflevector <16 x float> %519, <16 x float> poison, <16 x i32> zeroinitializer
  %521 = tail call <16 x float> @llvm.masked.load.v16f32.p0(ptr %515, i32 4, <16 x i1> %495, <16 x float> zeroinitializer)
  %522 = getelementptr i8, ptr %517, i64 4
  %523 = load float, ptr %522, align 4
  %524 = insertelement <16 x float> poison, float %523, i64 0
  %525 = shufflevector <16 x float> %524, <16 x float> poison, <16 x i32> zeroinitializer
  %526 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %516, <16 x float> %520, <16 x float> %511)
  %527 = tail call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %521, <16 x float> %525, <16 x float> %512)
  %528 = add nuw nsw i64 %510, 2
  %529 = icmp slt i64 %528, %2
  br i1 %529, label %509, label %505

530:
  ret void
}

define void @sgemv_int32(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10) nounwind {
  %12 = load i8, ptr %0, align 1
  %13 = icmp eq i8 %12, 84
  %14 = zext i1 %13 to i32
  %15 = load i32, ptr %1, align 4
  %16 = sext i32 %15 to i64
  %17 = load i32, ptr %2, align 4
  %18 = sext i32 %17 to i64
  %19 = load i32, ptr %5, align 4
  %20 = sext i32 %19 to i64
  tail call fastcc void @sproduct(i32 %14, i64 %16, i64 %18, ptr %4, i64 %20, ptr %6, ptr %9)
  ret void
}

declare <16 x float> @llvm.fmuladd.v16f32(<16 x float>, <16 x float>, <16 x float>)

declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32 immarg, <16 x i1>, <16 x float>)

declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, i32 immarg, <16 x i1>)

declare i64 @llvm.smax.i64(i64, i64)

declare i64 @llvm.smin.i64(i64, i64)

declare i64 @llvm.umin.i64(i64, i64)

